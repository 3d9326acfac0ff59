import { afterEach, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { loadCelCompilers } from '../../policy/cel-documents.ts';
import type { ApiClient } from '../api/client.ts';
import { createKindTable } from '../api/discovery.ts';
import { apiVersionOf, type ResourceType } from '../api/resource-path.ts';
import type { ClusterLog } from '../settings/cluster-options.ts';
import { createPolicyCatalog } from './catalog.ts';
import { policyKinds } from './kinds.ts';
import { mutatingPolicyDocument } from './policy.testing.ts';
import { writeStatuses } from './status.ts';
import { type PolicyWatcher, startPolicyWatcher } from './watcher.ts';

const cel = await loadCelCompilers();
const resource = 'mutatingpolicies';
let watcher: PolicyWatcher | undefined;
afterEach(() => watcher?.stop());

/** A cluster that serves MutatingPolicies in some versions, which can change. */
function cluster(first: readonly string[], stored: readonly JsonObject[]) {
  const tableOf = (versions: readonly string[]) =>
    createKindTable(
      versions.map((version) => ({
        ...{ group: 'policies.kyverno.io', version, kind: 'MutatingPolicy', resource, namespaced: false },
        ...{ verbs: [], subresources: [] },
      })),
    );
  let table = tableOf(first);
  let listener = () => {};
  const written: string[] = [];
  let items = stored;
  const client = {
    list: async (type: ResourceType) => ({
      items: type.resource === resource ? items : [],
      resourceVersion: '1',
    }),
    watch: (_: ResourceType, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('ended')));
      }),
    async update(type: ResourceType) {
      written.push(apiVersionOf(type));
    },
  } as unknown as ApiClient;
  const discovery = {
    current: () => table,
    refresh: async () => true,
    onChange(added: () => void) {
      listener = added;
      return () => {};
    },
  };
  return {
    client,
    discovery,
    written,
    serve(versions: readonly string[], objects: readonly JsonObject[]) {
      [table, items] = [tableOf(versions), objects];
      listener();
    },
  };
}

async function follow({ client, discovery }: ReturnType<typeof cluster>) {
  const warnings: JsonObject[] = [];
  const log = { info: () => {}, warn: (fields: JsonObject) => void warnings.push(fields) };
  const catalog = createPolicyCatalog({ kinds: policyKinds, cel });
  let changed = () => {};
  const until = async (isReached: () => boolean) => {
    while (!isReached())
      await new Promise<void>((resolve) => {
        changed = resolve;
      });
  };
  watcher = startPolicyWatcher({
    client,
    discovery,
    catalog,
    onChange: () => changed(),
    log: log as unknown as ClusterLog,
  });
  await watcher.synced;
  return { catalog, warnings, until };
}

const document = (name: string) => ({ ...mutatingPolicyDocument(name, {}, { uid: name }) });
const names = (catalog: ReturnType<typeof createPolicyCatalog>) => catalog.policies().map(({ name }) => name);

it.each([
  [['v1', 'v1beta1'], 'v1'],
  [['v1beta1', 'v1alpha1'], 'v1beta1'],
  [['v1alpha1'], 'v1alpha1'],
])('policies of a cluster that serves %j are read and written as %s', async (versions, expected) => {
  const { apiVersion: _, kind: __, ...item } = document('stamp');
  const served = cluster(versions, [item]);
  const { catalog } = await follow(served);
  expect(names(catalog)).toEqual(['stamp']);
  await writeStatuses(served.client, catalog.records(), () => ({ written: true }), new Date(0));
  expect(served.written).toEqual([`policies.kyverno.io/${expected}`]);
});

it('policies stay in force when the served version changes, except for those that were deleted', async () => {
  const served = cluster(['v1beta1'], [document('kept'), document('deleted')]);
  const { catalog, until } = await follow(served);
  served.serve(['v1', 'v1beta1'], []);
  expect(names(catalog)).toEqual(['deleted', 'kept']);
  served.serve(['v1'], [document('kept'), document('new')]);
  expect(names(catalog)).toEqual(['deleted', 'kept']);
  await until(() => names(catalog).join() === 'kept,new');
});

it('a kind that is served only in an unknown version is reported once', async () => {
  const served = cluster(['v7'], [document('stamp')]);
  const { catalog, warnings } = await follow(served);
  served.serve(['v7', 'v8'], []);
  expect(names(catalog)).toEqual([]);
  expect(warnings).toEqual([
    {
      kind: 'mutatingpolicies.policies.kyverno.io',
      served: 'v7',
      readable: 'v1, v1beta1, v1alpha1',
    },
  ]);
});
