import { describe, expect, it } from 'vitest';
import { emptyDataSource } from '../../engine/context/data-source.ts';
import type { JsonObject } from '../../json/value.ts';
import { compilePolicy } from '../../policy/compile/policy.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { manualClock } from '../clock.testing.ts';
import { type ObjectStore, StoreError } from '../ports.ts';
import { createBreaker } from '../queue/breaker.ts';
import { type NewUpdateRequest, readUpdateRequest, updateRequestDocument } from '../queue/update-request.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { createRunner } from './run-request.ts';

const object = (kind: string, name: string, more: JsonObject = {}, uid = `uid-${name}`): JsonObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'ns', uid, resourceVersion: '1' },
  ...more,
});

function policyWith(rule: JsonObject): CompiledPolicy {
  const { policy, problems } = compilePolicy(
    {
      apiVersion: 'kyverno.io/v1',
      kind: 'ClusterPolicy',
      metadata: { name: 'p' },
      spec: {
        rules: [
          {
            name: 'r',
            match: { any: [{ resources: { kinds: ['ConfigMap'] } }] },
            ...rule,
          },
        ],
      },
    },
    { file: 'test' },
  );
  if (policy === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return policy;
}

const labelSecrets = policyWith({
  mutate: {
    targets: [{ apiVersion: 'v1', kind: 'Secret', namespace: 'ns' }],
    patchStrategicMerge: { metadata: { labels: { by: '{{ request.object.metadata.name }}' } } },
  },
});
const labelOne = policyWith({
  mutate: {
    targets: [{ apiVersion: 'v1', kind: 'Secret', name: 'one', namespace: 'ns' }],
    patchStrategicMerge: {
      metadata: { labels: { 'op-{{ request.operation }}': '{{ request.userInfo.username }}' } },
    },
  },
});

const trigger = (more: Partial<NewUpdateRequest> = {}): NewUpdateRequest => ({
  type: 'mutate',
  policy: 'p',
  rule: 'r',
  cause: 'admission',
  requestToken: 'm',
  operation: 'UPDATE',
  trigger: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'cm', uid: 'uid-cm' },
  user: { info: { username: 'eve', groups: [] }, roles: [], clusterRoles: [] },
  admission: {
    uid: 'm',
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    name: 'cm',
    namespace: 'ns',
  },
  ...more,
});

function world(
  policy: CompiledPolicy | undefined,
  objects: readonly JsonObject[],
  wrap = (store: ObjectStore) => store,
) {
  const clock = manualClock();
  const memory = createMemoryStore(objects);
  const writes: string[] = [];
  const run = createRunner({
    store: wrap(memory),
    dataSource: emptyDataSource,
    environment: { now: () => new Date(clock.now()), random: () => 0.5 },
    clock,
    breaker: createBreaker({ clock }),
    policyOf: () => policy,
    exceptionsOf: () => [],
    kindOfResource: () => undefined,
    generate: async () => ({ state: 'Completed', message: '' }),
    triggerWaitMs: 5_000,
    onWrite: (_, { outcome, result }) => writes.push(`${outcome} ${result.ref.name}`),
    adviceFor: async () => 'add this ClusterRole',
  });
  const ask = (request: NewUpdateRequest, isActive = () => true) =>
    run(readUpdateRequest(updateRequestDocument(request, 'kymera')), isActive);
  const labelsOf = (name: string) => {
    const found = memory.objects().find(({ metadata }) => (metadata as JsonObject)['name'] === name);
    return (found?.['metadata'] as JsonObject | undefined)?.['labels'];
  };
  return { clock, ask, labelsOf, memory, writes };
}

const configMap = object('ConfigMap', 'cm');

describe('a request', () => {
  it('changes all targets, and writes nothing where nothing changes', async () => {
    const labelled = object('Secret', 'two');
    const done = {
      ...labelled,
      metadata: { ...(labelled['metadata'] as JsonObject), labels: { by: 'cm' } },
    };
    const { ask, labelsOf, writes } = world(labelSecrets, [configMap, object('Secret', 'one'), done]);
    expect(await ask(trigger())).toEqual({ state: 'Completed', message: '1 changed, 1 unchanged' });
    expect(labelsOf('one')).toEqual({ by: 'cm' });
    expect(writes.toSorted()).toEqual(['unchanged two', 'written one']);
  });

  it('contains the user and the operation', async () => {
    const { ask, labelsOf } = world(labelOne, [configMap, object('Secret', 'one')]);
    await ask(trigger());
    expect(labelsOf('one')).toEqual({ 'op-UPDATE': 'eve' });
  });

  it('of a deletion has what was deleted', async () => {
    const onDelete = policyWith({
      match: { any: [{ resources: { kinds: ['ConfigMap'], operations: ['DELETE'] } }] },
      mutate: {
        targets: [{ apiVersion: 'v1', kind: 'Secret', name: 'one', namespace: 'ns' }],
        patchStrategicMerge: { metadata: { labels: { was: '{{ request.oldObject.data.key }}' } } },
      },
    });
    const { ask, labelsOf } = world(onDelete, [object('Secret', 'one')]);
    const admission = { ...trigger().admission, oldObject: { ...configMap, data: { key: 'gone' } } };
    expect(await ask(trigger({ operation: 'DELETE', admission }))).toMatchObject({ state: 'Completed' });
    expect(labelsOf('one')).toEqual({ was: 'gone' });
  });

  it.each([
    ['a created object that never came', 'CREATE', [], 'ConfigMap ns/cm does not exist'],
    ['an update that was refused', 'UPDATE', [configMap], 'the update of ConfigMap ns/cm was not stored'],
    ['a deletion that was refused', 'DELETE', [configMap], 'ConfigMap ns/cm was not deleted'],
  ] as const)(
    'waits for the API server, and then ends without effect: %s',
    async (_, operation, objects, message) => {
      const { ask, clock, writes } = world(labelSecrets, [...objects, object('Secret', 'one')]);
      const request = trigger({ operation, oldVersion: '1' });
      expect(await ask(request)).toMatchObject({ state: 'wait' });
      await clock.pass(4_000);
      expect(await ask(request)).toMatchObject({ state: 'wait' });
      await clock.pass(1_000);
      expect(await ask(request)).toEqual({ state: 'Skip', message });
      expect(writes).toEqual([]);
    },
  );

  it('of an object that was created again ends', async () => {
    const { ask } = world(labelSecrets, [object('ConfigMap', 'cm', {}, 'uid-of-the-next')]);
    expect(await ask(trigger())).toEqual({
      state: 'Skip',
      message: 'ConfigMap ns/cm was deleted and created again',
    });
  });

  it('ends when its policy or rule was deleted', async () => {
    expect(await world(undefined, []).ask(trigger())).toEqual({
      state: 'Skip',
      message: 'policy p does not exist',
    });
    expect(await world(labelOne, []).ask(trigger({ rule: 'x' }))).toEqual({
      state: 'Skip',
      message: 'policy p has no rule x',
    });
  });

  it('without its target waits a moment, then ends', async () => {
    const { ask, clock } = world(labelOne, [configMap]);
    expect(await ask(trigger())).toMatchObject({ state: 'wait' });
    await clock.pass(1_000);
    expect(await ask(trigger())).toEqual({ state: 'Skip', message: 'Secret ns/one does not exist' });
  });

  it('whose objects were too large fails for good', async () => {
    expect(await world(labelOne, [configMap]).ask(trigger({ tooLarge: 600_000 }))).toMatchObject({
      state: 'Failed',
      permanent: true,
      message: expect.stringContaining('600000 bytes'),
    });
  });

  it('loses nothing that others write at the same time', async () => {
    let others = 5;
    const { ask, memory, clock } = world(labelSecrets, [configMap, object('Secret', 'one')], (store) => ({
      ...store,
      async update(...change) {
        if (others > 0) {
          others -= 1;
          const [current] = await store.list({ apiVersion: 'v1', kind: 'Secret' });
          const count = Number((current?.['data'] as JsonObject | undefined)?.['count'] ?? 0) + 1;
          if (current !== undefined) await store.update(current, { ...current, data: { count } });
        }
        return store.update(...change);
      },
    }));
    const asked = ask(trigger());
    // The pauses between attempts.
    await clock.pass(10_000);
    expect(await asked).toMatchObject({ state: 'Completed' });
    const secret = memory.objects().find(({ kind }) => kind === 'Secret');
    expect(secret).toMatchObject({ data: { count: 5 }, metadata: { labels: { by: 'cm' } } });
  });

  it('that may not write fails in the words of the API server, with what to add', async () => {
    const forbidden = 'secrets "one" is forbidden: User "x" cannot update resource "secrets"';
    const { ask } = world(labelOne, [configMap, object('Secret', 'one')], (store) => ({
      ...store,
      update: async () => {
        throw new StoreError('forbidden', forbidden);
      },
    }));
    expect(await ask(trigger())).toEqual({ state: 'Failed', message: `${forbidden}\nadd this ClusterRole` });
  });

  it('writes nothing when another does the work by now', async () => {
    const { ask, labelsOf } = world(labelOne, [configMap, object('Secret', 'one')]);
    await ask(trigger(), () => false);
    expect(labelsOf('one')).toBeUndefined();
  });
});

describe('a look at all triggers', () => {
  const all = trigger({
    cause: 'policyUpdate',
    trigger: { apiVersion: '', kind: 'ConfigMap', namespace: '', name: '' },
    requestToken: 'uid/1',
    admission: {},
  });
  const { operation: _, user: __, ...sweep } = all;

  it('reads each list once, and writes each target once', async () => {
    const byTrigger = policyWith({
      mutate: {
        targets: [{ apiVersion: 'v1', kind: 'Secret', name: '{{ request.object.metadata.name }}*' }],
        patchStrategicMerge: { metadata: { labels: { by: "{{ request.operation || 'BACKGROUND' }}" } } },
      },
    });
    const calls = { list: 0, get: 0, update: 0 };
    const names = Array.from({ length: 50 }, (_unused, index) => `x${index}-`);
    const objects = names.flatMap((name) => [object('ConfigMap', name), object('Secret', `${name}s`)]);
    const { ask, labelsOf } = world(byTrigger, objects, (store) => ({
      ...store,
      list: (query) => {
        calls.list += 1;
        return store.list(query);
      },
      get: (ref) => {
        calls.get += 1;
        return store.get(ref);
      },
      update: (...args) => {
        calls.update += 1;
        return store.update(...args);
      },
    }));
    expect(await ask(sweep)).toEqual({ state: 'Completed', message: '50 changed, 0 unchanged' });
    expect(calls).toEqual({ list: 2, get: 0, update: 50 });
    expect(labelsOf('x49-s')).toEqual({ by: 'BACKGROUND' });
  });

  it('is of no rule that lists operations', async () => {
    const onUpdate = policyWith({
      match: { any: [{ resources: { kinds: ['ConfigMap'], operations: ['UPDATE'] } }] },
      mutate: {
        targets: [{ apiVersion: 'v1', kind: 'Secret', namespace: 'ns' }],
        patchStrategicMerge: { metadata: { labels: { a: 'b' } } },
      },
    });
    const { ask } = world(onUpdate, [configMap, object('Secret', 'one')]);
    expect(await ask(sweep)).toEqual({ state: 'Skip', message: 'no trigger found' });
  });
});
