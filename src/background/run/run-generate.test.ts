import { describe, expect, it } from 'vitest';
import { emptyDataSource } from '../../engine/context/data-source.ts';
import type { JsonObject } from '../../json/value.ts';
import { compilePolicy } from '../../policy/compile/policy.ts';
import { manualClock } from '../clock.testing.ts';
import { StoreError } from '../ports.ts';
import { createBreaker } from '../queue/breaker.ts';
import { type NewUpdateRequest, readUpdateRequest, updateRequestDocument } from '../queue/update-request.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { createGenerateRunner } from './run-generate.ts';

const secret = (name: string, namespace: string, value: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace, uid: `uid-${namespace}-${name}`, resourceVersion: '1' },
  data: { key: value },
});
const team = (name: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    creationTimestamp: '2024-01-01T00:00:00Z',
    labels: { team: 'yes' },
  },
});

function world(objects: readonly JsonObject[], generate: JsonObject = {}, rule: JsonObject = {}) {
  const { policy, problems } = compilePolicy(
    {
      apiVersion: 'kyverno.io/v1',
      kind: 'ClusterPolicy',
      metadata: { name: 'p' },
      spec: {
        // Some rules read the user.
        background: false,
        rules: [
          {
            name: 'copy',
            match: {
              any: [{ resources: { kinds: ['Namespace'], selector: { matchLabels: { team: 'yes' } } } }],
            },
            generate: {
              apiVersion: 'v1',
              kind: 'Secret',
              name: 'copy',
              namespace: '{{ request.object.metadata.name }}',
              synchronize: true,
              clone: { namespace: 'default', name: 'source' },
              ...generate,
            },
            ...rule,
          },
        ],
      },
    },
    { file: 'test' },
  );
  if (policy === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  const clock = manualClock();
  const store = createMemoryStore(objects);
  const run = createGenerateRunner({
    store,
    dataSource: emptyDataSource,
    environment: { now: () => new Date(clock.now()), random: () => 0.5 },
    clock,
    breaker: createBreaker({ clock }),
    policyOf: (key) => (key === 'p' ? policy : undefined),
    exceptionsOf: () => [],
    kindOfResource: () => undefined,
  });
  const send = (request: NewUpdateRequest) =>
    run(readUpdateRequest(updateRequestDocument(request, 'kymera')), () => true);
  const ask = (more: Partial<NewUpdateRequest> = {}) => send({ ...newRequest, ...more });
  const copies = () =>
    store
      .objects()
      .filter(({ metadata }) => (metadata as JsonObject)['name'] === 'copy')
      .map(
        ({ metadata, data }) => `${(metadata as JsonObject)['namespace']}: ${(data as JsonObject)['key']}`,
      );
  return { ask, send, store, copies };
}

const newRequest: NewUpdateRequest = {
  type: 'generate',
  policy: 'p',
  rule: 'copy',
  cause: 'admission',
  requestToken: 'm',
  operation: 'CREATE',
  trigger: { apiVersion: 'v1', kind: 'Namespace', namespace: '', name: 'a', uid: 'uid-a' },
  receivedAt: Date.parse('2024-01-01T00:00:01Z'),
  user: { info: { username: 'eve', groups: [] }, roles: [], clusterRoles: [] },
  admission: { uid: 'm', kind: { group: '', version: 'v1', kind: 'Namespace' }, name: 'a' },
};
const { operation: _, user: __, ...withoutUser } = newRequest;
const nobody = { apiVersion: '', kind: '', namespace: '', name: '' };
const source = secret('source', 'default', 'old');

describe('a request of a generate rule', () => {
  it('generates the objects of the trigger', async () => {
    const { ask, copies } = world([source, team('a')]);
    expect(await ask()).toEqual({ state: 'Completed', message: 'generated Secret a/copy' });
    expect(copies()).toEqual(['a: old']);
    expect(await ask()).toEqual({ state: 'Completed', message: 'everything is up to date' });
  });

  it.each<[string, Partial<NewUpdateRequest>, RegExp]>([
    ['a CREATE of an old object', { receivedAt: Date.parse('2024-01-01T00:06:00Z') }, /created long before/],
    ['another uid', { trigger: { ...newRequest.trigger, uid: 'other' } }, /deleted and created again/],
    ['no uid', { trigger: { ...newRequest.trigger, uid: undefined } }, /has no uid/],
    [
      'an UPDATE without a uid',
      { operation: 'UPDATE', trigger: { ...newRequest.trigger, uid: undefined } },
      /has no uid/,
    ],
  ])('does nothing for a forged trigger with %s', async (_, forged, message) => {
    const { ask, copies } = world([source, team('a')]);
    expect(await ask(forged)).toMatchObject({ state: 'Skip', message: expect.stringMatching(message) });
    expect(copies()).toEqual([]);
  });

  it('fails without its source, and says so', async () => {
    const { ask } = world([team('a')]);
    expect(await ask()).toMatchObject({
      state: 'Failed',
      message: expect.stringContaining('default/source'),
    });
  });

  it('deletes the objects of a deleted trigger', async () => {
    const { ask, copies, store } = world([source, team('a')]);
    await ask();
    await store.remove({ apiVersion: 'v1', kind: 'Namespace', namespace: '', name: 'a' });
    const admission = { ...newRequest.admission, oldObject: team('a') };
    expect(await ask({ operation: 'DELETE', deleteDownstream: true, admission })).toEqual({
      state: 'Completed',
      message: 'deleted Secret a/copy',
    });
    expect(copies()).toEqual([]);
  });

  it('puts right what somebody changed or deleted', async () => {
    const { ask, send, copies, store } = world([source, team('a')]);
    await ask();
    await store.remove({ apiVersion: 'v1', kind: 'Secret', namespace: 'a', name: 'copy' });
    await send({ ...withoutUser, cause: 'change' });
    expect(copies()).toEqual(['a: old']);
  });

  describe('does not restore an object', () => {
    const change = { ...withoutUser, cause: 'change' } as const;
    const condition = (key: string, value: string) => ({ key, operator: 'Equals', value });
    const copy = { apiVersion: 'v1', kind: 'Secret', namespace: 'a', name: 'copy' };
    const removed = async (rule: JsonObject, trigger: JsonObject) => {
      const { ask, send, copies, store } = world([source, team('a')], {}, rule);
      await ask();
      expect(copies()).toEqual(['a: old']);
      await store.update(team('a'), trigger);
      await store.remove(copy);
      return { result: await send(change), copies: copies() };
    };
    const labelled = (labels: JsonObject, more: JsonObject = {}): JsonObject => {
      const { metadata, ...rest } = team('a');
      return { ...rest, metadata: { ...(metadata as JsonObject), labels, ...more } };
    };
    const wants = condition("{{ request.object.metadata.labels.tier || 'gold' }}", 'gold');
    const isCreate = condition('{{ request.operation }}', 'CREATE');
    const isEve = condition('{{ request.userInfo.username }}', 'eve');

    it.each<[string, JsonObject, JsonObject]>([
      ['no longer matches', {}, labelled({ team: 'no' })],
      [
        'no longer meets the preconditions',
        { preconditions: { all: [wants] } },
        labelled({ team: 'yes', tier: 'tin' }),
      ],
      [
        'no longer meets one of the preconditions, another of which reads the operation',
        { preconditions: { all: [isCreate, wants] } },
        labelled({ team: 'yes', tier: 'tin' }),
      ],
      ['is being deleted', {}, labelled({ team: 'yes' }, { deletionTimestamp: '2024-01-02T00:00:00Z' })],
    ])('whose trigger %s', async (_, rule, trigger) => {
      expect(await removed(rule, trigger)).toEqual({
        result: { state: 'Skip', message: 'nothing to do' },
        copies: [],
      });
    });

    it.each<[string, JsonObject]>([
      ['the operation', { preconditions: { all: [isCreate, wants] } }],
      ['the user', { preconditions: { all: [isEve, wants] } }],
    ])('and does if the conditions also read %s of the original request', async (_, rule) => {
      expect((await removed(rule, labelled({ team: 'yes', tier: 'gold' }))).copies).toEqual(['a: old']);
    });

    it('and fails if the preconditions cannot be evaluated', async () => {
      const rule = {
        preconditions: { all: [condition('{{ request.object.metadata.annotations.x }}', 'y')] },
      };
      const { send, copies } = world([source, team('a')], {}, rule);
      expect(await send(change)).toMatchObject({
        state: 'Failed',
        message: expect.stringContaining('annotations'),
      });
      expect(copies()).toEqual([]);
    });
  });

  it.each([
    ['terminating', 'admission', { state: 'Skip', message: 'namespace a is being deleted' }],
    ['terminating', 'change', { state: 'Skip', message: 'namespace a is being deleted' }],
    ['notFound', 'change', { state: 'Skip', message: 'the namespace' }],
    ['notFound', 'admission', { state: 'Failed', message: 'the namespace' }],
  ] as const)('into a namespace that is gone (%s), because of %s', async (reason, cause, expected) => {
    const { send, store } = world([source, team('a')]);
    store.create = () => Promise.reject(new StoreError(reason, 'the namespace'));
    expect(await send({ ...newRequest, cause })).toEqual(expected);
  });

  it('follows a source that changes, and goes with one that is deleted', async () => {
    const { ask, send, copies, store } = world([source, team('a'), team('b')]);
    await ask();
    await ask({
      trigger: { ...newRequest.trigger, name: 'b', uid: 'uid-b' },
      admission: { ...newRequest.admission, name: 'b' },
    });
    await store.update(source, secret('source', 'default', 'new'));
    await send({ ...withoutUser, cause: 'change', trigger: nobody });
    expect(copies()).toEqual(['a: new', 'b: new']);
    const removedSource = {
      apiVersion: 'v1',
      kind: 'Secret',
      namespace: 'default',
      name: 'source',
      uid: 'uid-default-source',
    };
    await send({ ...withoutUser, cause: 'change', trigger: nobody, admission: { removedSource } });
    expect(copies()).toEqual([]);
  });

  it('of a policy update is for all triggers where the rule says so', async () => {
    const all = { ...withoutUser, cause: 'policyUpdate', trigger: nobody } as const;
    const existing = world([source, team('a'), team('b')], { generateExisting: true });
    await existing.send(all);
    expect(existing.copies()).toEqual(['a: old', 'b: old']);
    const others = world([source, team('a')]);
    expect(await others.send(all)).toEqual({ state: 'Skip', message: 'nothing to do' });
  });

  it('keeps what the rule generated under a former name, also when the trigger changes later', async () => {
    const { ask, store } = world([source, team('a')]);
    await ask();
    const renamed = world(store.objects(), { name: 'renamed' });
    const names = () =>
      renamed.store
        .objects()
        .map(({ metadata }) => metadata as JsonObject)
        .filter(({ namespace }) => namespace === 'a')
        .map(({ name }) => name);
    await renamed.send({ ...withoutUser, cause: 'policyUpdate', trigger: nobody });
    expect(names()).toEqual(['copy', 'renamed']);
    await renamed.ask({ operation: 'UPDATE' });
    expect(names()).toEqual(['copy', 'renamed']);
  });

  it('deletes what a changed trigger no longer needs', async () => {
    const name = 'copy-{{ request.object.metadata.labels.suffix }}';
    const suffixed = (suffix: string): JsonObject => {
      const { metadata, ...rest } = team('a');
      return { ...rest, metadata: { ...(metadata as JsonObject), labels: { team: 'yes', suffix } } };
    };
    const { ask, store } = world([source, suffixed('x')], { name });
    await ask();
    await store.update(suffixed('x'), suffixed('y'));
    expect(await ask({ operation: 'UPDATE' })).toEqual({
      state: 'Completed',
      message: 'generated Secret a/copy-y; deleted Secret a/copy-x',
    });
  });

  it('deletes the objects of a deleted rule, by its recorded definition', async () => {
    const { ask, send, copies } = world([source, team('a')]);
    await ask();
    const admission = { kinds: [{ apiVersion: 'v1', kind: 'Secret' }] };
    await send({ ...withoutUser, cause: 'policyDelete', trigger: nobody, admission });
    expect(copies()).toEqual([]);
  });

  it('ends when its rule was deleted', async () => {
    expect(await world([]).ask({ rule: 'other' })).toEqual({
      state: 'Skip',
      message: 'policy p has no rule other',
    });
  });
});
