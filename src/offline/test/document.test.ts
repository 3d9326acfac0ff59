import { expect, test } from 'vitest';
import { exampleCertificate } from '../../expression/functions/x509/example.ts';
import { readDocuments } from '../../policy/documents.ts';
import { parseTest } from './document.ts';

test('a mocked global context entry may decode a certificate, whose parser is loaded on first use', async () => {
  const text = JSON.stringify({
    apiVersion: 'cli.kyverno.io/v1alpha1',
    kind: 'Test',
    metadata: { name: 't' },
    globalContextEntries: [
      { name: 'issuer', data: { pem: exampleCertificate }, fieldPath: 'x509_decode(pem).Version' },
    ],
    results: [{ policy: 'p', rule: 'r', kind: 'Pod', resources: ['web'], result: 'pass' }],
  });
  const [document] = readDocuments({ file: 'kyverno-test.yaml', text }).documents;
  if (document === undefined) throw new Error('the document was not read');
  const { test: parsed, problems } = await parseTest(document, { now: () => new Date(0), random: () => 0 });
  expect(problems).toEqual([]);
  expect(parsed?.globalReferences.get('issuer')).toBe(3);
});
