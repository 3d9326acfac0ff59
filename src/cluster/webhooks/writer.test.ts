import { expect, it } from 'vitest';
import { nameOf } from '../../json/metadata.ts';
import { readObjects } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { loadCelCompilers } from '../../policy/cel-documents.ts';
import type { ApiClient } from '../api/client.ts';
import { ApiError } from '../api/cluster-error.ts';
import type { ResourceType } from '../api/resource-path.ts';
import { smallCluster } from '../api/served-kinds.testing.ts';
import { mutatingPolicyDocument } from '../policies/policy.testing.ts';
import { createWebhookWriter } from './writer.ts';

/** An API server that refuses webhooks in which one of the words occurs. */
function apiServer(refused: readonly string[]) {
  const stored = new Map<string, JsonObject>();
  const client = {
    get: async (_type: ResourceType, { name = '' }: { name?: string }) => {
      const found = stored.get(name);
      if (found === undefined) throw new ApiError(404, 'NotFound', 'not found');
      return found;
    },
    create: async (_type: ResourceType, object: JsonObject, { dryRun = false } = {}) => {
      const word = refused.find((each) => JSON.stringify(object).includes(each));
      if (word !== undefined) throw new ApiError(422, 'Invalid', `undeclared reference to ${word}`);
      if (!dryRun) stored.set(nameOf(object), object);
      return object;
    },
  } as unknown as ApiClient;
  return { client, stored };
}

it('conditions that the API server does not know stay with the server; other refusals count', async () => {
  const { client, stored } = apiServer(['semver(', 'bad-group']);
  const cel = await loadCelCompilers();
  const compiled = (name: string, spec: JsonObject) => {
    const { policy } = cel.compileMutatingPolicy(
      mutatingPolicyDocument(name, spec),
      { file: name },
      { strict: false },
    );
    if (policy === undefined) throw new Error('invalid');
    return policy;
  };
  const newer = compiled('newer', {
    matchConditions: [{ name: 'c', expression: 'semver("1.0.0").major() == 1' }],
  });
  const known = compiled('known', { matchConditions: [{ name: 'c', expression: 'request.name != "a"' }] });
  const invalid = compiled('invalid', {
    matchConstraints: {
      resourceRules: [
        { apiGroups: ['bad-group'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] },
      ],
    },
  });
  const refused: string[] = [];
  const writer = createWebhookWriter({
    client,
    settings: () => ({
      target: { url: 'https://kymera.example.com', caBundle: 'Q0E=' },
      namespace: 'kymera',
    }),
    policies: () => [newer, known, invalid],
    kinds: () => smallCluster,
    probe: async () => {},
    onState: () => {},
    onRefused: (policy) => void refused.push(policy),
  });
  await writer.reconcile();
  const webhooks = readObjects(stored.get('kymera-resource-mutation') ?? {}, 'webhooks');
  expect(webhooks.map(({ name, matchConditions }) => [name, matchConditions])).toEqual([
    ['known.mpol.fail.mutate.kymera.io', [{ name: 'c', expression: 'request.name != "a"' }]],
    ['newer.mpol.fail.mutate.kymera.io', undefined],
  ]);
  expect([newer, known, invalid].map((policy) => writer.stateOf(policy).written)).toEqual([
    true,
    true,
    false,
  ]);
  expect(refused).toEqual(['invalid']);
  expect(writer.stateOf(invalid).refusal).toContain('bad-group');
});
