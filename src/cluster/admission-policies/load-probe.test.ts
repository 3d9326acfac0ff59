import { expect, it } from 'vitest';
import { metadataOf, nameOf } from '../../json/metadata.ts';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { ApiError } from '../api/cluster-error.ts';
import { resourceTypes } from '../api/resource-path.ts';
import { createLoadProbe, isOfProbe } from './load-probe.ts';

const generated = (generation: number): JsonObject[] => [
  { metadata: { uid: 'a', generation, ownerReferences: [{ uid: 'owner' }] } },
  { metadata: { uid: 'b', generation: 1 } },
];

/** An API server that evaluates what it has read. */
function apiServer() {
  const created: JsonObject[] = [];
  let read: readonly JsonObject[] = [];
  let conflicts = 0;
  const client = {
    get: async () => ({ metadata: { name: 'kymera' } }),
    async update(type: unknown, object: JsonObject, { dryRun = false } = {}) {
      if (type !== resourceTypes.leases || !dryRun) throw new Error('the Lease was changed');
      if (conflicts > 0) {
        conflicts -= 1;
        throw new ApiError(409, 'Conflict', 'changed');
      }
      const bound = new Set(
        read.map((each) => (each['spec'] as { policyName?: string }).policyName).filter(Boolean),
      );
      const names = read.map(nameOf).filter((name) => bound.has(name));
      const annotations = Object.fromEntries(names.map((name) => [`kymera.io/${name}`, 'loaded']));
      return { ...object, metadata: { ...metadataOf(object), annotations } };
    },
    async create(_: unknown, object: JsonObject) {
      const isThere = created.some(
        (each) => each['kind'] === object['kind'] && nameOf(each) === nameOf(object),
      );
      if (isThere) throw new ApiError(409, 'AlreadyExists', 'exists');
      created.push(object);
    },
  } as unknown as ApiClient;
  return {
    created,
    probe: createLoadProbe({ client, lease: { namespace: 'kymera', name: 'kymera' } }),
    readAll: () => {
      read = [...created];
    },
    conflict: () => {
      conflicts = 1;
    },
  };
}

it('passes when the API server evaluates what was written after the objects', async () => {
  const { created, probe, readAll, conflict } = apiServer();
  expect(await probe.passes(generated(1))).toBe(false);
  expect(await probe.passes(generated(1))).toBe(false);
  expect(created.map(({ kind }) => kind)).toEqual([
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
  ]);
  expect(created.every(isOfProbe)).toBe(true);
  expect(created.map((each) => metadataOf(each)['ownerReferences'])).toEqual([
    [{ uid: 'owner' }],
    [{ uid: 'owner' }],
  ]);
  readAll();
  conflict();
  expect(await probe.passes(generated(1))).toBe(false);
  expect(await probe.passes(generated(1))).toBe(true);
});

it('starts again when the objects were changed', async () => {
  const { probe, readAll } = apiServer();
  await probe.passes(generated(1));
  readAll();
  expect(await probe.passes(generated(2))).toBe(false);
  readAll();
  expect(await probe.passes(generated(2))).toBe(true);
});
