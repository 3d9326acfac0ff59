import { expect, test } from 'vitest';
import { exampleCertificate } from '../../expression/functions/x509/example.ts';
import { readDocuments } from '../../policy/documents.ts';
import { parseTest } from './document.ts';

test('a test contains the data of images', async () => {
  const read = async (imageData: unknown) => {
    const results = [{ policy: 'p', rule: 'r', kind: 'Pod', resources: ['web'], result: 'pass' }];
    const text = JSON.stringify({ kind: 'Test', metadata: { name: 't' }, imageData, results });
    const [document] = readDocuments({ file: 'kyverno-test.yaml', text }).documents;
    if (document === undefined) throw new Error('the document was not read');
    return parseTest(document, { now: () => new Date(0), random: () => 0 });
  };
  const data = { configData: { config: { User: 'root' } } };
  const { test: parsed, problems } = await read([{ image: 'nginx:1', data }]);
  expect(problems).toEqual([]);
  expect(parsed?.images).toEqual(new Map([['nginx:1', data]]));
  const broken = await read([{ data }, { image: 'nginx:1', data: 'root' }]);
  expect(broken.test).toBeUndefined();
  expect(broken.problems.map(({ message }) => message)).toEqual([
    expect.stringContaining('image must be the reference'),
    expect.stringContaining('data must be a map'),
  ]);
});

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
