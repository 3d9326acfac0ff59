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
app.post('/', { schema: { body: schema } }, () => 'valid');

/** The schema violations of a YAML stream. */
async function violations(text: string): Promise<readonly string[]> {
  const documents = parseAllDocuments(text, { version: '1.1' }).map((document) => document.toJS());
  const answers = await Promise.all(
    documents
      .filter((each) => each !== null)
      .map((payload) => app.inject({ method: 'POST', url: '/', payload })),
  );
  return answers.flatMap((answer) => (answer.statusCode === 200 ? [] : [answer.json().message as string]));
}

describe('the schema for editors', () => {
  it('accepts the sample policies', async () => {
    const files = readdirSync(join(root, 'policies'), { recursive: true, encoding: 'utf8' });
    const policies = files.filter((name) => name.endsWith('policy.yaml'));
    expect(policies.length).toBeGreaterThan(2);
    for (const name of policies) {
      expect(await violations(readFileSync(join(root, 'policies', name), 'utf8')), name).toEqual([]);
    }
  });

  it('accepts every policy of Kyverno that loads', async ({ skip }) => {
    const corpus = findCorpus(root);
    if (corpus === undefined) return skip(noCorpus);
    let accepted = 0;
    for (const corpusCase of readCorpus(corpus)) {
      for (const file of corpusCase.policies) {
        const { text } = readText(corpusCase, file);
        const { problems, policies } = loadDocuments([{ file, text }]);
        if (policies.length === 0 || problems.some(({ severity }) => severity === 'error')) continue;
        accepted++;
        expect(await violations(text), `${corpusCase.id}/${file}`).toEqual([]);
      }
    }
    expect(accepted).toBeGreaterThan(100);
  });

  it.each<[string, string, string]>([
    ['an unknown field', policy({ spec: 'backgroun: true' }), 'additional properties'],
    ['a wrong type', policy({ spec: 'background: "yes"' }), 'must be boolean'],
    ['a wrong value', policy({ spec: 'applyRules: Two' }), 'must be equal to one of the allowed values'],
    [
      'a loop without a list, inside a loop',
      policy({ mutate: 'foreach: [{list: a, foreach: [{patchStrategicMerge: {}}]}]' }),
      "required property 'list'",
    ],
    [
      'a v1alpha1 policy with a v1 field',
      'apiVersion: kyverno.io/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec: {rules: [{name: r, resource: {kinds: [Pod]}, mutate: {patchStrategicMerge: {}}}]}\n',
      'additional properties',
    ],
  ])('reports %s', async (_, text, expected) => {
    expect((await violations(text)).join()).toContain(expected);
  });

  it('accepts documents of other kinds', async () => {
    expect(
      await violations('apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {anything: true}\n'),
    ).toEqual([]);
    expect(
      await violations('apiVersion: kyverno.io/v2\nkind: CleanupPolicy\nspec: {schedule: "* * * * *"}\n'),
    ).toEqual([]);
  });

  it('describes each field', () => {
    const rules = schema.definitions.policy.properties.spec.properties.rules;
    expect(rules.description).toBe('Evaluated in this order.');
    expect(rules.items.properties.match.description).not.toBe('');
  });
});
