import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadDocuments } from '../../src/policy/load.ts';
import { policy } from '../../src/policy/policy.testing.ts';
import { findCorpus, readCorpus, readText } from '../conformance/kyverno-corpus.ts';
import { noCorpus } from '../needs.testing.ts';

const root = join(import.meta.dirname, '..', '..');
const schema = JSON.parse(readFileSync(join(root, 'schemas/policy.schema.json'), 'utf8'));

const app = fastify({
  ajv: { customOptions: { removeAdditional: false, coerceTypes: false, strict: false, allErrors: true } },
});
app.post('/', { schema: { body: schema } }, () => 'fits');

/** What the schema says of each document of a YAML text; empty when all fit. */
async function complaints(text: string): Promise<readonly string[]> {
  const documents = parseAllDocuments(text, { version: '1.1' }).map((document) => document.toJS());
  const answers = await Promise.all(
    documents
      .filter((each) => each !== null)
      .map((payload) => app.inject({ method: 'POST', url: '/', payload })),
  );
  return answers.flatMap((answer) => (answer.statusCode === 200 ? [] : [answer.json().message as string]));
}

describe('the schema for editors', () => {
  it('takes the sample policies', async () => {
    const files = readdirSync(join(root, 'policies'), { recursive: true, encoding: 'utf8' });
    const policies = files.filter((name) => name.endsWith('policy.yaml'));
    expect(policies.length).toBeGreaterThan(2);
    for (const name of policies) {
      expect(await complaints(readFileSync(join(root, 'policies', name), 'utf8')), name).toEqual([]);
    }
  });

  it('takes every policy of Kyverno that loads', async ({ skip }) => {
    const corpus = findCorpus(root);
    if (corpus === undefined) return skip(noCorpus);
    let taken = 0;
    for (const corpusCase of readCorpus(corpus)) {
      for (const file of corpusCase.policies) {
        const { text } = readText(corpusCase, file);
        const { problems, policies } = loadDocuments([{ file, text }]);
        if (policies.length === 0 || problems.some(({ severity }) => severity === 'error')) continue;
        taken++;
        expect(await complaints(text), `${corpusCase.id}/${file}`).toEqual([]);
      }
    }
    expect(taken).toBeGreaterThan(100);
  });

  it.each<[string, string, string]>([
    ['a field that is not known', policy({ spec: 'backgroun: true' }), 'additional properties'],
    ['a wrong type', policy({ spec: 'background: "yes"' }), 'must be boolean'],
    ['a wrong value', policy({ spec: 'applyRules: Two' }), 'must be equal to one of the allowed values'],
    [
      'a loop without a list, inside a loop',
      policy({ mutate: 'foreach: [{list: a, foreach: [{patchStrategicMerge: {}}]}]' }),
      "required property 'list'",
    ],
    [
      'an old policy with a field of today',
      'apiVersion: kyverno.io/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec: {rules: [{name: r, resource: {kinds: [Pod]}, mutate: {patchStrategicMerge: {}}}]}\n',
      'additional properties',
    ],
  ])('says of %s', async (_, text, expected) => {
    expect((await complaints(text)).join()).toContain(expected);
  });

  it('lets other documents pass', async () => {
    expect(
      await complaints('apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {anything: true}\n'),
    ).toEqual([]);
    expect(
      await complaints('apiVersion: kyverno.io/v2\nkind: CleanupPolicy\nspec: {schedule: "* * * * *"}\n'),
    ).toEqual([]);
  });

  it('tells what each field is for', () => {
    const rules = schema.definitions.policy.properties.spec.properties.rules;
    expect(rules.description).toBe('Evaluated in this order.');
    expect(rules.items.properties.match.description).not.toBe('');
  });
});
