import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { refOf, refTitle, stringLabelsOf } from '../object-identity.ts';
import { evaluation, object, policyWith, requestOf, trigger } from '../policy.testing.ts';
import { type ObjectStore, StoreError } from '../ports.ts';
import { createMemoryStore, type MemoryStore } from '../store/memory-store.ts';
import { cleanUpRule, cleanUpSource, cleanUpTrigger } from './cleanup.ts';
import { runGenerate } from './generate.ts';
import { labelValue, originOf } from './labels.ts';
import { mayCopy, sourceKinds } from './sources.ts';

const made = 'apiVersion: v1, kind: Secret, name: made, namespace: "{{ request.namespace }}"';
const data = (content: string, more = '') => `generate: {${more}${made}, data: ${content}}`;
const sync = 'synchronize: true, ';

function ruleOf(policy: CompiledPolicy) {
  const [rule] = policy.generateRules;
  if (rule === undefined) throw new Error('no generate rule');
  return rule;
}

async function run(text: string | CompiledPolicy, store: ObjectStore, request = requestOf(trigger)) {
  const policy = typeof text === 'string' ? policyWith(text) : text;
  const { objects } = await runGenerate({ policy, rule: ruleOf(policy), request, store, ...evaluation });
  return objects.map(({ action, ref, code }) =>
    [action, ref === undefined ? '' : refTitle(ref), code ?? ''].join(' ').trim(),
  );
}

const get = (store: MemoryStore, title: string, kind = 'Secret') =>
  store.objects().find((each) => refTitle(refOf(each)) === `${kind} ${title}`);

describe('data', () => {
  it('creates the object with labels that identify its source', async () => {
    const store = createMemoryStore([]);
    expect(
      await run(data('{metadata: {labels: {x: z}}, stringData: {a: "{{ request.name }}"}}'), store),
    ).toEqual(['created Secret ns/made']);
    expect(get(store, 'ns/made')).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'made',
        namespace: 'ns',
        labels: {
          x: 'z',
          'app.kubernetes.io/managed-by': 'kyverno',
          'generate.kyverno.io/policy-name': 'p',
          'generate.kyverno.io/policy-namespace': '',
          'generate.kyverno.io/rule-name': 'r',
          'generate.kyverno.io/trigger-group': '',
          'generate.kyverno.io/trigger-version': 'v1',
          'generate.kyverno.io/trigger-kind': 'ConfigMap',
          'generate.kyverno.io/trigger-namespace': 'ns',
          'generate.kyverno.io/trigger-name': 'trigger',
          'generate.kyverno.io/trigger-uid': 'u-1',
        },
      },
      data: { a: 'dHJpZ2dlcg==' },
    });
  });

  it('has strings where the kind wants strings, also for numbers of variables', async () => {
    const store = createMemoryStore([]);
    const text = `generate: {foreach: [{list: "request.object.data.[a]", apiVersion: v1, kind: ConfigMap, name: made, namespace: ns,
      data: {metadata: {labels: {index: "{{ elementIndex }}"}}, data: {port: 80, debug: true}}}]}`;
    await run(text, store, requestOf(object('ConfigMap', 'ns/trigger', { data: { a: 'x' } })));
    expect(get(store, 'ns/made', 'ConfigMap')).toMatchObject({
      metadata: { labels: { index: '0' } },
      data: { port: '80', debug: 'true' },
    });
  });

  it('without synchronize leaves alone what is there', async () => {
    const there = object('Secret', 'ns/made', { data: { b: 'c' } });
    const store = createMemoryStore([there]);
    expect(await run(data('{data: {a: b}}'), store)).toEqual(['unchanged Secret ns/made']);
    expect(get(store, 'ns/made')).toBe(there);
  });

  it('with synchronize puts back what others changed, and writes nothing when it is right', async () => {
    const store = createMemoryStore([]);
    const text = data('{data: {a: b}}', sync);
    await run(text, store);
    expect(await run(text, store)).toEqual(['unchanged Secret ns/made']);
    const right = get(store, 'ns/made') as JsonObject;
    await store.update(right, { ...right, data: { a: 'other', more: 'x' } });
    expect(await run(text, store)).toEqual(['updated Secret ns/made']);
    expect(get(store, 'ns/made')).toEqual(right);
  });

  it('keeps what the API server and finalizers have in the object', async () => {
    const metadata = {
      uid: 'u',
      resourceVersion: '7',
      creationTimestamp: 't',
      finalizers: ['f'],
      generation: 2,
    };
    const store = createMemoryStore([object('Secret', 'ns/made', { metadata, data: { a: 'c' } })]);
    await run(data('{data: {a: b}}', sync), store);
    expect(get(store, 'ns/made')).toMatchObject({
      metadata: { ...metadata, resourceVersion: '8' },
      data: { a: 'b' },
    });
  });
});

describe('server-side apply', () => {
  const applying = (content: string, more = '') =>
    policyWith(data(content, more), '{useServerSideApply: true}');
  const foreign = object('Secret', 'ns/made', {
    metadata: { labels: { theirs: 'x' } },
    data: { a: 'old', b: 'c' },
  });

  it('keeps what others have added', async () => {
    const store = createMemoryStore([foreign]);
    const policy = applying('{data: {a: new}}', sync);
    expect(await run(policy, store)).toEqual(['updated Secret ns/made']);
    expect(get(store, 'ns/made')).toMatchObject({
      metadata: { labels: { theirs: 'x' } },
      data: { a: 'new', b: 'c' },
    });
    expect(await run(policy, store)).toEqual(['unchanged Secret ns/made']);
  });

  it('goes to a store that has it, and reports a change by the resourceVersion', async () => {
    const versioned = (resourceVersion: string) =>
      object('Secret', 'ns/made', { metadata: { resourceVersion }, data: { a: 'new' } });
    const sent: JsonObject[] = [];
    const storeWith = (before: JsonObject | undefined, after: string): ObjectStore => ({
      ...createMemoryStore(before === undefined ? [] : [before]),
      apply: async (each) => {
        sent.push(each);
        return versioned(after);
      },
    });
    const policy = applying('{data: {a: new}}', sync);
    expect(await run(policy, storeWith(undefined, '1'))).toEqual(['created Secret ns/made']);
    expect(await run(policy, storeWith(versioned('1'), '1'))).toEqual(['unchanged Secret ns/made']);
    expect(await run(policy, storeWith(versioned('1'), '2'))).toEqual(['updated Secret ns/made']);
    expect(sent).toHaveLength(3);
    expect(sent[0]).toMatchObject({
      data: { a: 'new' },
      metadata: { labels: { 'generate.kyverno.io/rule-name': 'r' } },
    });
  });

  it('without synchronize leaves alone what is there', async () => {
    expect(await run(applying('{data: {a: new}}'), createMemoryStore([foreign]))).toEqual([
      'unchanged Secret ns/made',
    ]);
  });
});

describe('copies', () => {
  const source = object('Secret', 'default/regcred', {
    metadata: {
      uid: 's-1',
      resourceVersion: '3',
      managedFields: [],
      labels: { own: 'x' },
      ownerReferences: [{ name: 'o' }],
    },
    type: 'Opaque',
    data: { k: 'v' },
  });
  const clone = (more = '') => `generate: {${more}${made}, clone: {namespace: default, name: regcred}}`;

  it('are like the source, but for what belongs to the source alone', async () => {
    const store = createMemoryStore([source]);
    expect(await run(clone(), store)).toEqual(['created Secret ns/made']);
    const copy = get(store, 'ns/made');
    expect(copy).toMatchObject({ type: 'Opaque', data: { k: 'v' } });
    expect(Object.keys(copy?.['metadata'] as JsonObject).sort()).toEqual(['labels', 'name', 'namespace']);
    expect(stringLabelsOf(copy ?? {})).toMatchObject({
      own: 'x',
      'generate.kyverno.io/source-kind': 'Secret',
      'generate.kyverno.io/source-namespace': 'default',
      'generate.kyverno.io/source-uid': 's-1',
      'generate.kyverno.io/trigger-uid': 'u-1',
    });
    expect(store.objects()[0]).toBe(source);
  });

  it('follow the source', async () => {
    const store = createMemoryStore([source]);
    await run(clone(sync), store);
    await store.update(source, { ...source, data: { k: 'new' } });
    expect(await run(clone(sync), store)).toEqual(['updated Secret ns/made']);
    expect(get(store, 'ns/made')).toMatchObject({ data: { k: 'new' } });
  });

  it('need their source, and are none of themselves', async () => {
    expect(await run(clone(), createMemoryStore([]))).toEqual(['failed Secret ns/made KYM_SOURCE_NOT_FOUND']);
    const self =
      'generate: {apiVersion: v1, kind: Secret, name: regcred, namespace: default, clone: {namespace: default, name: regcred}}';
    expect(await run(self, createMemoryStore([source]))).toEqual(['skipped Secret default/regcred']);
  });

  it('of a list keep their names; its own namespace is left out', async () => {
    const list =
      'generate: {synchronize: true, namespace: "{{ request.namespace }}", cloneList: {namespace: default, kinds: [v1/Secret, v1/ConfigMap], selector: {matchLabels: {own: x}}}}';
    const store = createMemoryStore([
      source,
      object('ConfigMap', 'default/cm', { metadata: { labels: { own: 'x' } } }),
      object('ConfigMap', 'default/other'),
    ]);
    expect(await run(list, store)).toEqual(['created Secret ns/regcred', 'created ConfigMap ns/cm']);
    const home = requestOf(object('ConfigMap', 'default/t'));
    expect(await run(list, store, home)).toEqual([
      'skipped Secret default/regcred',
      'skipped ConfigMap default/cm',
    ]);
  });
});

describe('foreach', () => {
  const loop = `generate: {synchronize: true, foreach: [{list: "split(request.object.data.names, ',')", preconditions: {all: [{key: "{{ element }}", operator: NotEquals, value: skip}]}, apiVersion: v1, kind: ConfigMap, name: "{{ element }}", namespace: ns, data: {data: {index: "n{{ elementIndex }}"}}}]}`;
  const of = (names: string) =>
    object('ConfigMap', 'ns/trigger', { metadata: { uid: 'u-1' }, data: { names } });

  it('makes an object for each element that meets its conditions', async () => {
    const store = createMemoryStore([]);
    expect(await run(loop, store, requestOf(of('a,skip,b')))).toEqual([
      'created ConfigMap ns/a',
      'skipped',
      'created ConfigMap ns/b',
    ]);
    expect(get(store, 'ns/b', 'ConfigMap')).toMatchObject({ data: { index: 'n2' } });
  });

  it('with synchronize, deletes the objects of a removed element', async () => {
    const store = createMemoryStore([]);
    await run(loop, store, requestOf(of('a,b')));
    expect(await run(loop, store, requestOf(of('b'), 'UPDATE', of('a,b')))).toEqual([
      'updated ConfigMap ns/b',
      'deleted ConfigMap ns/a',
    ]);
  });

  it('goes on after an element that fails', async () => {
    const failing = loop.replace('name: "{{ element }}"', 'name: "{{ request.object.data.{{ element }} }}"');
    const request = requestOf(object('ConfigMap', 'ns/trigger', { data: { names: 'a,b', b: 'made' } }));
    expect(await run(failing, createMemoryStore([]), request)).toEqual([
      'failed  KYM_VARIABLE_UNRESOLVED',
      'created ConfigMap ns/made',
    ]);
  });
});

describe('what is withdrawn', () => {
  async function generated(more = '') {
    const policy = policyWith(data('{data: {a: b}}', `${sync}${more}`));
    const store = createMemoryStore([object('Secret', 'ns/mine')]);
    await run(policy, store);
    await run(policy, store, requestOf(object('ConfigMap', 'other/trigger', { metadata: { uid: 'u-2' } })));
    return { policy, rule: ruleOf(policy), store };
  }
  const titles = (store: MemoryStore) => store.objects().map((each) => refTitle(refOf(each)));

  it('goes with its trigger', async () => {
    const made = await generated();
    await cleanUpTrigger(made, refOf(trigger));
    expect(titles(made.store)).toEqual(['Secret ns/mine', 'Secret other/made']);
  });

  it('goes with its rule, unless it is to stay', async () => {
    const gone = await generated();
    await cleanUpRule(gone);
    expect(titles(gone.store)).toEqual(['Secret ns/mine']);
    const orphaned = await generated('orphanDownstreamOnPolicyDelete: true, ');
    await cleanUpRule(orphaned);
    expect(titles(orphaned.store)).toHaveLength(3);
  });

  it('goes with its source', async () => {
    const source = object('Secret', 'default/src', { metadata: { uid: 's-1' } });
    const policy = policyWith(`generate: {${sync}${made}, clone: {namespace: default, name: src}}`);
    const store = createMemoryStore([source]);
    await run(policy, store);
    await cleanUpSource({ policy, rule: ruleOf(policy), store }, refOf(source));
    expect(titles(store)).toEqual(['Secret default/src']);
  });

  it('knows where it comes from', async () => {
    const { store } = await generated();
    expect(originOf(get(store, 'ns/made') ?? {})).toEqual({
      policy: 'p',
      rule: 'r',
      trigger: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'trigger', uid: 'u-1' },
    });
    expect(originOf(get(store, 'ns/mine') ?? {})).toBeUndefined();
  });
});

describe('sources', () => {
  const rule = (generate: string) => ruleOf(policyWith(`generate: {${generate}}`));
  test.each([
    [`${sync}${made}, clone: {namespace: default, name: src}`, 'default/src', true],
    [`${sync}${made}, clone: {namespace: default, name: src}`, 'default/other', false],
    [`${sync}${made}, clone: {namespace: default, name: "{{ request.name }}"}`, 'default/other', true],
    [
      `${sync}namespace: ns, cloneList: {namespace: default, kinds: [v1/Secret], selector: {matchLabels: {a: b}}}`,
      'default/x',
      false,
    ],
    [`${sync}namespace: ns, cloneList: {namespace: default, kinds: [v1/Secret]}`, 'default/x', true],
  ])('%s copies %s: %s', (generate, title, expected) => {
    expect(mayCopy(rule(generate), object('Secret', title))).toBe(expected);
  });

  it('are followed for synchronized rules only', () => {
    const clone = `${made}, clone: {namespace: default, name: src}`;
    expect(sourceKinds(rule(`${sync}${clone}`))).toEqual([{ apiVersion: 'v1', kind: 'Secret' }]);
    expect(sourceKinds(rule(clone))).toEqual([]);
    expect(sourceKinds(rule(`${sync}${made}, data: {data: {}}`))).toEqual([]);
  });
});

describe('writing', () => {
  it('tries again when another writes at the same time', async () => {
    const store = createMemoryStore([]);
    let refused = 0;
    const racing: ObjectStore = {
      ...store,
      async create(one) {
        if (refused++ > 0) return store.create(one);
        await store.create({ ...one, data: {} });
        throw new StoreError('alreadyExists', 'there is one');
      },
    };
    expect(await run(data('{data: {a: b}}', sync), racing)).toEqual(['updated Secret ns/made']);
  });

  it('says what the store says', async () => {
    const store: ObjectStore = {
      ...createMemoryStore([]),
      create: () => Promise.reject(new StoreError('forbidden', 'no rights')),
    };
    const policy = policyWith(data('{data: {}}'));
    const { objects } = await runGenerate({
      policy,
      rule: ruleOf(policy),
      request: requestOf(trigger),
      store,
      ...evaluation,
    });
    expect(objects[0]).toMatchObject({
      action: 'failed',
      message: 'no rights',
      storeError: { reason: 'forbidden' },
    });
  });
});

it('every text has a label value, and different texts have different ones', () => {
  const valid = /^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$/;
  fc.assert(
    fc.property(fc.string({ maxLength: 120 }), fc.string({ maxLength: 120 }), (one, two) => {
      expect(labelValue(one)).toMatch(valid);
      expect(labelValue(one).length).toBeLessThanOrEqual(63);
      if (one !== two) expect(labelValue(one)).not.toBe(labelValue(two));
    }),
  );
});
