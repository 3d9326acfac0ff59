import { beforeEach, describe, expect, it } from 'vitest';
import { defaultRequestSettings } from '../../admission/policy-provider.ts';
import { metadataOf, nameOf } from '../../json/metadata.ts';
import type { JsonObject } from '../../json/value.ts';
import { loadCelCompilers } from '../../policy/cel-documents.ts';
import type { ApiClient } from '../api/client.ts';
import { ApiError } from '../api/cluster-error.ts';
import type { ResourceType } from '../api/resource-path.ts';
import type { PolicyRecord } from '../policies/catalog.ts';
import { policyKinds } from '../policies/kinds.ts';
import { mutatingPolicyDocument } from '../policies/policy.testing.ts';
import { createAdmissionPolicyGenerator } from './generator.ts';

const cel = await loadCelCompilers();
const kind = policyKinds.find((each) => each.kind === 'MutatingPolicy');
if (kind === undefined) throw new Error('no kind');
const autogen = { mutatingAdmissionPolicy: { enabled: true } };

function recordOf(spec: JsonObject, generated: boolean, uid = 'u1'): PolicyRecord {
  const document = mutatingPolicyDocument('stamp', spec, { uid });
  const { policy } = cel.compileMutatingPolicy(document, { file: '' }, { strict: false });
  return {
    kind: kind as NonNullable<typeof kind>,
    object: { ...document, status: { generated } },
    policy,
    problems: [],
  };
}

/** An API server, and what was written to it. */
function apiServer() {
  const stored = new Map<string, JsonObject>();
  const writes: string[] = [];
  const failures = new Map<string, ApiError>();
  const conflicts = new Map<string, number>();
  const key = (type: ResourceType, name: string) =>
    `${type.resource.replace('mutatingadmissionpolicy', '').replace('mutatingadmission', '')}/${name}`;
  const check = (verb: string, type: ResourceType) => {
    const failure = failures.get(`${verb} ${key(type, '').slice(0, -1)}`);
    if (failure !== undefined) throw failure;
  };
  const client = {
    async list(type: ResourceType) {
      check('list', type);
      const items = [...stored]
        .filter(
          ([name, object]) => name.startsWith(key(type, '')) && metadataOf(object)['labels'] !== undefined,
        )
        .map(([, object]) => object);
      return { items, resourceVersion: '1' };
    },
    async get(type: ResourceType, { name = '' }) {
      const found = stored.get(key(type, name));
      if (found === undefined) throw new ApiError(404, 'NotFound', 'not found');
      return found;
    },
    async create(type: ResourceType, object: JsonObject, { dryRun = false } = {}) {
      check('create', type);
      if (dryRun) return object;
      const uid = key(type, nameOf(object));
      stored.set(uid, { ...object, metadata: { ...metadataOf(object), uid } });
      writes.push(`create ${uid}`);
      return object;
    },
    async update(type: ResourceType, object: JsonObject) {
      const name = key(type, nameOf(object));
      const left = conflicts.get(name) ?? 0;
      conflicts.set(name, left - 1);
      if (left > 0) throw new ApiError(409, 'Conflict', 'changed');
      const { deletionTimestamp, finalizers = [] } = metadataOf(object);
      const isEnd = deletionTimestamp !== undefined && (finalizers as readonly string[]).length === 0;
      if (isEnd) stored.delete(name);
      else stored.set(name, object);
      writes.push(`${isEnd ? 'delete' : 'update'} ${name}`);
      return object;
    },
    async delete(type: ResourceType, { name = '' }) {
      markDeleted(key(type, name));
    },
  } as unknown as ApiClient;
  /** As the API server does for an object with finalizers. */
  function markDeleted(name: string): void {
    const object = stored.get(name) ?? {};
    const metadata = metadataOf(object);
    if (metadata['finalizers'] === undefined) {
      stored.delete(name);
      writes.push(`delete ${name}`);
    } else stored.set(name, { ...object, metadata: { ...metadata, deletionTimestamp: 'now' } });
  }
  return { client, stored, writes, failures, conflicts, markDeleted };
}

const created = ['create policies/mpol-stamp', 'create bindings/mpol-stamp-binding'];
const deleted = ['delete bindings/mpol-stamp-binding', 'delete policies/mpol-stamp'];

describe('the generator', () => {
  let cluster: ReturnType<typeof apiServer>;
  let records: readonly PolicyRecord[] | undefined;
  let exceptions: readonly string[];
  let isServed: boolean;
  let isCalled: boolean;
  let now: number;
  let woken: number[];
  let isLoaded: boolean;
  let generator: ReturnType<typeof createAdmissionPolicyGenerator>;

  beforeEach(() => {
    cluster = apiServer();
    [records, exceptions, isServed, isCalled, now, woken, isLoaded] = [[], [], true, true, 0, [], true];
    generator = createAdmissionPolicyGenerator({
      client: cluster.client,
      records: () => records,
      exceptionsOf: () => exceptions,
      webhooks: () => ({ target: { url: 'https://a.example.com', caBundle: 'Q0E=' }, namespace: 'kymera' }),
      request: () => defaultRequestSettings,
      isServed: () => isServed,
      isCalled: () => isCalled,
      probe: { passes: async () => isLoaded },
      settleMs: 100,
      now: () => now,
      wake: (milliseconds) => void woken.push(milliseconds),
      onState: () => {},
    });
  });

  /** Runs with one policy, and returns its state and what was written. */
  async function run(record: PolicyRecord) {
    records = [record];
    cluster.writes.length = 0;
    await generator.reconcile();
    return { ...generator.stateOf(record), writes: [...cluster.writes] };
  }

  it('writes the objects, and waits until API servers have read them', async () => {
    const record = recordOf({ autogen }, false);
    expect(await run(record)).toMatchObject({ generated: false, writes: created });
    now = 60;
    expect(await run(record)).toMatchObject({ generated: false, writes: [] });
    expect(woken).toEqual([100, 40]);
    now = 100;
    expect(await run(record)).toMatchObject({ generated: true, writes: [] });
  });

  it('waits for as long as the API server does not evaluate them', async () => {
    isLoaded = false;
    const record = recordOf({ autogen }, false);
    for (now = 0; now < 100_000; now += 10_000) expect(await run(record)).toMatchObject({ generated: false });
    expect(new Set(woken)).toEqual(new Set([250]));
    isLoaded = true;
    expect(await run(record)).toMatchObject({ generated: false });
    now += 100;
    expect(await run(record)).toMatchObject({ generated: true });
  });

  it('runs again for the policy that waits the shortest time', async () => {
    const first = recordOf({ autogen }, false);
    await run(first);
    now = 60;
    const other = { ...recordOf({ autogen }, false, 'u2') };
    const metadata = { ...metadataOf(other.object), name: 'other' };
    records = [first, { ...other, object: { ...other.object, metadata } }];
    await generator.reconcile();
    expect(woken).toEqual([100, 40]);
  });

  it.each(['policies/mpol-stamp', 'bindings/mpol-stamp-binding'])(
    'gives %s up after the webhook has taken over, when somebody deletes it',
    async (name) => {
      await run(recordOf({ autogen }, true));
      cluster.markDeleted(name);
      expect(await run(recordOf({ autogen }, true))).toMatchObject({
        generated: false,
        reason: expect.stringContaining('somebody deleted the MutatingAdmissionPolicy'),
        writes: [],
      });
      isCalled = false;
      expect(await run(recordOf({ autogen }, false))).toMatchObject({ writes: [] });
      isCalled = true;
      expect(await run(recordOf({ autogen }, false))).toMatchObject({ writes: [] });
      now += 100;
      expect(await run(recordOf({ autogen }, false))).toMatchObject({ writes: deleted });
      expect(await run(recordOf({ autogen }, false))).toMatchObject({ generated: false, writes: created });
    },
  );

  it('takes over at once when an object is gone', async () => {
    await run(recordOf({ autogen }, true));
    cluster.stored.delete('bindings/mpol-stamp-binding');
    isLoaded = false;
    expect(await run(recordOf({ autogen }, true))).toMatchObject({
      generated: false,
      writes: ['create bindings/mpol-stamp-binding'],
    });
  });

  it('deletes the objects of a probe that is over, and keeps those of others', async () => {
    const ofProbe = { name: 'kymera-probe-1', uid: 'p', labels: {}, ownerReferences: [{ uid: 'u1' }] };
    cluster.stored.set('policies/kymera-probe-1', { metadata: ofProbe });
    isLoaded = false;
    await run(recordOf({ autogen }, false));
    expect((await run(recordOf({ autogen }, false))).writes).toEqual([]);
    isLoaded = true;
    expect((await run(recordOf({ autogen }, false))).writes).toEqual(['delete policies/kymera-probe-1']);
  });

  it('updates them while they are in force', async () => {
    await run(recordOf({ autogen }, true));
    const changed = recordOf({ autogen, failurePolicy: 'Ignore' }, true);
    expect(await run(changed)).toMatchObject({ generated: true, writes: ['update policies/mpol-stamp'] });
    expect(await run(changed)).toMatchObject({ generated: true, writes: [] });
  });

  it('deletes them only after the webhook has taken over', async () => {
    await run(recordOf({ autogen }, true));
    // The status says that the policy is generated: replicas do not run it.
    expect(await run(recordOf({}, true))).toMatchObject({ generated: false, writes: [] });
    isCalled = false;
    expect(await run(recordOf({}, false))).toMatchObject({ generated: false, writes: [] });
    isCalled = true;
    now = 1_000;
    expect(await run(recordOf({}, false))).toMatchObject({ writes: [] });
    now = 1_100;
    expect(await run(recordOf({}, false))).toMatchObject({ writes: deleted });
  });

  it('takes the policy back when an exception appears', async () => {
    await run(recordOf({ autogen }, true));
    exceptions = ['a/b'];
    expect(await run(recordOf({ autogen }, true))).toMatchObject({
      generated: false,
      reason: expect.stringContaining('a/b'),
      writes: [],
    });
  });

  it('deletes them although somebody else changes them at the same time', async () => {
    await run(recordOf({ autogen }, true));
    cluster.conflicts.set('policies/mpol-stamp', 2);
    records = [];
    await generator.reconcile();
    expect([...cluster.stored.keys()]).toEqual([]);
  });

  it('deletes the objects of a deleted policy at once, but not before all policies are loaded', async () => {
    await run(recordOf({ autogen }, true));
    cluster.writes.length = 0;
    records = undefined;
    await generator.reconcile();
    expect(cluster.writes).toEqual([]);
    records = [];
    await generator.reconcile();
    expect(cluster.writes).toEqual(deleted);
  });

  it('takes over the objects of a policy that was created again', async () => {
    await run(recordOf({ autogen }, true));
    expect(await run(recordOf({ autogen }, false, 'u2'))).toMatchObject({
      generated: false,
      writes: ['update policies/mpol-stamp', 'update bindings/mpol-stamp-binding'],
    });
  });

  it('does not touch an object of others', async () => {
    const foreign = { metadata: { name: 'mpol-stamp-binding' }, spec: {} };
    cluster.stored.set('bindings/mpol-stamp-binding', foreign);
    expect(await run(recordOf({ autogen }, false))).toMatchObject({
      generated: false,
      reason: expect.stringContaining('MutatingAdmissionPolicyBinding mpol-stamp-binding exists'),
      writes: [],
    });
  });

  it.each([
    ['create bindings', 403, 'it is not permitted: no'],
    ['create policies', 422, 'the API server refused it: no'],
    ['list policies', 403, 'it is not permitted: no'],
    ['list bindings', 404, 'does not serve'],
  ])('writes nothing when the API server refuses to %s (%d)', async (what, status, reason) => {
    cluster.failures.set(what, new ApiError(status, 'No', 'no'));
    // Also the policy that was in force runs in the webhook again.
    expect(await run(recordOf({ autogen }, true))).toMatchObject({
      generated: false,
      reason: expect.stringContaining(reason),
      writes: [],
    });
  });

  it('says that an older API server does not serve the kind', async () => {
    isServed = false;
    expect(await run(recordOf({ autogen }, true))).toMatchObject({
      generated: false,
      reason: expect.stringContaining('does not serve'),
    });
    // A policy that does not ask for it gets no message.
    expect(await run(recordOf({}, true))).toEqual({ generated: false, reason: undefined, writes: [] });
  });

  it('keeps what the status says before its first run', () => {
    expect(generator.stateOf(recordOf({ autogen }, true)).generated).toBe(true);
  });
});
