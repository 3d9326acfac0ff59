import { describe, expect, it } from 'vitest';
import { type DataSource, emptyDataSource } from '../../engine/context/data-source.ts';
import { labelsOf } from '../../json/metadata.ts';
import type { JsonObject } from '../../json/value.ts';
import { loadCelCompilers } from '../../policy/cel-documents.ts';
import type { CompiledException, CompiledPolicy } from '../../policy/compiled.ts';
import { loadDocuments } from '../../policy/load.ts';
import { neededAccess, triggerAccess } from '../access/needed-access.ts';
import { backgroundRules } from '../background-rule.ts';
import { manualClock } from '../clock.testing.ts';
import { environment, object, requestOf } from '../policy.testing.ts';
import { StoreError } from '../ports.ts';
import { createBreaker } from '../queue/breaker.ts';
import { type NewUpdateRequest, readUpdateRequest, updateRequestDocument } from '../queue/update-request.ts';
import { planReconciles, planSweeps } from '../run/plan-sweeps.ts';
import { createRunner } from '../run/run-request.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { triggerReads } from '../triggers/trigger-reads.ts';
import { triggerOutcomes } from '../triggers/triggered-rules.ts';

const cel = await loadCelCompilers();
const configMaps =
  '{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}';
const secrets = configMaps.replace('configmaps', 'secrets').replace('CREATE, UPDATE', '"*"');

interface Parts {
  readonly spec: string;
  readonly value?: string;
  readonly kind?: string;
}

/** A policy that sets the label `by` of existing objects. */
function policyOf({ spec, value = 'request.name', kind = 'MutatingPolicy' }: Parts): CompiledPolicy {
  const text = `{apiVersion: policies.kyverno.io/v1, kind: ${kind}, metadata: {name: p${kind === 'MutatingPolicy' ? '' : ', namespace: ns'}}, spec: {
    evaluation: {mutateExisting: {enabled: true}},
    matchConstraints: {resourceRules: [${configMaps}]}, ${spec}
    mutations: [{patchType: ApplyConfiguration, applyConfiguration: {
      expression: 'Object{metadata: Object.metadata{labels: {"by": string(${value})}}}'}}]}}`;
  const { policies, problems } = loadDocuments([{ file: 'p.yaml', text }], { cel });
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (policies[0] === undefined || errors.length > 0) throw new Error(JSON.stringify(errors));
  return policies[0];
}

const ofSecrets = `targetMatchConstraints: {resourceRules: [${secrets}]},`;

function trigger(rule = 'mutations', more: Partial<NewUpdateRequest> = {}): NewUpdateRequest {
  return {
    type: 'mutate',
    policy: 'mpol:p',
    rule,
    cause: 'admission',
    requestToken: 'm',
    operation: 'UPDATE',
    trigger: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'cm', uid: 'u' },
    admission: {
      uid: 'm',
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'cm',
      namespace: 'ns',
    },
    ...more,
  };
}

function sweep(rule = 'mutations'): NewUpdateRequest {
  const nothing = { apiVersion: '', kind: '', namespace: '', name: '' };
  const { operation: _, admission: __, ...rest } = trigger(rule, { cause: 'reconcile', trigger: nothing });
  return rest;
}

const configMap = object('ConfigMap', 'ns/cm', { metadata: { uid: 'u' }, data: { team: 'shop' } });
const objects = [configMap, object('Secret', 'ns/one'), object('Secret', 'other/two')];

async function run(
  policy: CompiledPolicy,
  request: NewUpdateRequest,
  held: readonly JsonObject[] = objects,
  dataSource: DataSource = emptyDataSource,
  exceptions: readonly CompiledException[] = [],
  onGet: (name: string) => void = () => {},
) {
  const clock = manualClock();
  const memory = createMemoryStore(held);
  const store: typeof memory = {
    ...memory,
    async get(ref) {
      onGet(ref.name);
      return memory.get(ref);
    },
  };
  const runner = createRunner({
    store,
    dataSource,
    environment,
    evaluation: { limits: { steps: 50_000, bytes: 1 << 20 } },
    clock,
    breaker: createBreaker({ clock }),
    policyOf: () => policy,
    exceptionsOf: () => exceptions,
    kindOfResource: () => undefined,
    generate: async () => ({ state: 'Completed', message: '' }),
  });
  const result = await runner(readUpdateRequest(updateRequestDocument(request, 'kymera')), () => true);
  const labels = store.objects().flatMap((each) => {
    const { name } = each['metadata'] as { name: string };
    const { by } = labelsOf(each);
    return by === undefined ? [] : [`${name}=${String(by)}`];
  });
  return { ...result, labels };
}

describe('the targets of a MutatingPolicy', () => {
  it('are the objects of its target constraints; the request is that of the trigger', async () => {
    const policy = policyOf({ spec: ofSecrets, value: 'request.object.data.team' });
    expect(await run(policy, trigger())).toMatchObject({
      state: 'Completed',
      message: '2 changed, 0 unchanged',
      labels: ['one=shop', 'two=shop'],
    });
  });

  it.each([
    [
      'a condition',
      `${ofSecrets} targetMatchConditions: [{name: a, expression: object.metadata.namespace == request.namespace}],`,
      ['one=cm'],
    ],
    ['a name', ofSecrets.replace('resources:', 'resourceNames: [two], resources:'), ['two=cm']],
    [
      'an object selector',
      ofSecrets.replace('{resourceRules', '{objectSelector: {matchLabels: {a: b}}, resourceRules'),
      [],
    ],
    [
      'an excluded resource',
      ofSecrets.replace(
        '{resourceRules',
        `{excludeResourceRules: [${secrets.replace('resources:', 'resourceNames: [one], resources:')}], resourceRules`,
      ),
      ['two=cm'],
    ],
  ])('are limited by %s', async (_, spec, labels) => {
    expect((await run(policyOf({ spec }), trigger())).labels).toEqual(labels);
  });

  it('of a namespaced policy are in its namespace', async () => {
    const policy = policyOf({ spec: ofSecrets, kind: 'NamespacedMutatingPolicy' });
    expect((await run(policy, trigger())).labels).toEqual(['one=cm']);
  });

  it('without target constraints are the objects that it matches, which admission mutates too', async () => {
    const policy = policyOf({ spec: '', value: 'request.operation' });
    expect(policy.rules.map(({ name, targets }) => [name, targets])).toEqual([
      ['mutations', undefined],
      ['mutate-existing', []],
    ]);
    expect(backgroundRules(policy).map(({ rule }) => rule.name)).toEqual(['mutate-existing']);
    expect((await run(policy, sweep('mutate-existing'))).labels).toEqual(['cm=UPDATE']);
  });

  const found = (value: JsonObject | null): DataSource => ({
    read: (query) =>
      query.type === 'apiCall'
        ? value === null
          ? { found: false, error: 'no', absent: true }
          : { found: true, value }
        : emptyDataSource.read(query),
  });
  const byExpression = `targetMatchConstraints: {expression: 'resource.Get("v1", "secrets", object.metadata.namespace, "one")'},`;

  it.each([
    ['an object', found(object('Secret', 'ns/one')), ['one=cm']],
    [
      'a list, whose items have no kind',
      found({
        apiVersion: 'v1',
        kind: 'SecretList',
        items: [{ metadata: { name: 'two', namespace: 'other' } }],
      }),
      ['two=cm'],
    ],
    ['null', found(null), []],
  ])('are those of an expression: %s', async (_, source, labels) => {
    const result = await run(policyOf({ spec: byExpression }), trigger(), objects, source);
    expect(result.labels).toEqual(labels);
  });

  it('that are missing are reported, and the others are changed', async () => {
    const names = ['one', 'gone', 'two'].map((name) => ({ metadata: { name, namespace: 'ns' } }));
    const list = found({ apiVersion: 'v1', kind: 'SecretList', items: names });
    const held = [configMap, object('Secret', 'ns/one'), object('Secret', 'ns/two')];
    expect(await run(policyOf({ spec: byExpression }), trigger(), held, list)).toMatchObject({
      state: 'Completed',
      message: '2 changed, 0 unchanged; Secret ns/gone does not exist',
      labels: ['one=cm', 'two=cm'],
    });
  });

  it('that cannot be read are a failure, and the others are changed', async () => {
    const items = ['one', 'denied', 'two'].map((name) => ({ metadata: { name, namespace: 'ns' } }));
    const list = found({ apiVersion: 'v1', kind: 'SecretList', items });
    const held = [configMap, object('Secret', 'ns/one'), object('Secret', 'ns/two')];
    const deny = (name: string) => {
      if (name === 'denied') throw new StoreError('forbidden', 'secrets "denied" is forbidden');
    };
    expect(await run(policyOf({ spec: byExpression }), trigger(), held, list, [], deny)).toMatchObject({
      state: 'Failed',
      message: 'secrets "denied" is forbidden',
      labels: ['one=cm', 'two=cm'],
    });
  });

  it('outside the namespace of a namespaced policy are not even read', async () => {
    const read: string[] = [];
    const items = [{ metadata: { name: 'gone', namespace: 'other' } }];
    const list = found({ apiVersion: 'v1', kind: 'SecretList', items });
    const policy = policyOf({
      spec: byExpression.replace('object.metadata.namespace, ', ''),
      kind: 'NamespacedMutatingPolicy',
    });
    const result = await run(policy, trigger(), objects, list, [], (name) => void read.push(name));
    expect(result).toMatchObject({ labels: [], message: expect.not.stringContaining('gone') });
    expect(read).toEqual(['cm']);
  });

  it('of an expression that fails are a failure with its path', async () => {
    const spec = byExpression.replace('object.metadata.namespace', 'object.nothing.here');
    expect(await run(policyOf({ spec }), trigger())).toMatchObject({
      state: 'Failed',
      message: expect.stringMatching(/targetMatchConstraints\/expression\) \[KYM_CEL_FAILED\]$/),
    });
  });

  it('that cost too much are failures that are not repeated', async () => {
    const value = 'lists.range(1000).map(i, lists.range(1000)).size()';
    expect(await run(policyOf({ spec: ofSecrets, value }), trigger())).toMatchObject({
      state: 'Failed',
      permanent: true,
      message: expect.stringContaining('KYM_BUDGET_EXHAUSTED'),
    });
  });
});

describe('exceptions', () => {
  const exceptionOf = (spec: string): CompiledException => {
    const text = `{apiVersion: policies.kyverno.io/v1, kind: PolicyException, metadata: {name: e, namespace: ops},
      spec: {policyRefs: [{name: p, kind: MutatingPolicy}], ${spec}}}`;
    const { exceptions, problems } = loadDocuments([{ file: 'e.yaml', text }], { cel });
    if (exceptions[0] === undefined) throw new Error(JSON.stringify(problems));
    return exceptions[0];
  };
  const listed = policyOf({ spec: ofSecrets, value: 'exceptions.allowedImages.join("+")' });

  it.each([
    ['a trigger', trigger()],
    ['a sweep', sweep()],
  ])('match the targets of %s, whose lists the mutations read', async (_, request) => {
    const exception = exceptionOf(
      'images: [a, b], matchConditions: [{name: c, expression: object.metadata.name == "one"}]',
    );
    const result = await run(listed, request, objects, emptyDataSource, [exception]);
    expect(result).toMatchObject({ state: 'Completed', labels: ['one=a+b', 'two='] });
  });

  it('exempt targets', async () => {
    const exception = exceptionOf('matchConditions: [{name: c, expression: object.metadata.name == "one"}]');
    const result = await run(listed, trigger(), objects, emptyDataSource, [exception]);
    expect(result.labels).toEqual(['two=']);
  });

  it('whose conditions fail for a target are failures of the target', async () => {
    const exception = exceptionOf(
      'matchConditions: [{name: c, expression: object.metadata.name != "cm" && object.none.x == 1}]',
    );
    expect(await run(listed, trigger(), objects, emptyDataSource, [exception])).toMatchObject({
      state: 'Failed',
      message: expect.stringContaining('Secret ns/one: failed to evaluate policy'),
      labels: [],
    });
  });

  it('read data of their own namespace only', async () => {
    const asked: unknown[] = [];
    const source: DataSource = {
      read(query) {
        if (query.type === 'apiCall') asked.push(query.policyNamespace);
        return { found: true, value: {} };
      },
    };
    const exception = exceptionOf(
      `matchConditions: [{name: c, expression: 'resource.Get("v1", "secrets", "kube-system", "x").size() > 0'}]`,
    );
    await run(listed, trigger(), objects, source, [exception]);
    expect(new Set(asked)).toEqual(new Set(['ops']));
  });
});

describe('a sweep', () => {
  it('needs no trigger, and the request describes each target', async () => {
    const policy = policyOf({ spec: ofSecrets, value: 'request.operation + "-" + request.name' });
    const [, ...onlySecrets] = objects;
    expect((await run(policy, sweep(), onlySecrets)).labels).toEqual(['one=UPDATE-one', 'two=UPDATE-two']);
  });

  it('with an expression takes each matching object as a trigger', async () => {
    const expression = `targetMatchConstraints: {expression: 'resource.Get("v1", "secrets", object.metadata.namespace, "one")'},`;
    const source: DataSource = {
      read: (query) =>
        query.type === 'apiCall'
          ? { found: true, value: object('Secret', 'ns/one') }
          : emptyDataSource.read(query),
    };
    expect((await run(policyOf({ spec: expression }), sweep(), objects, source)).labels).toEqual(['one=cm']);
  });

  it('is planned for a new policy and periodically, unless it reads the user', () => {
    const policy = policyOf({ spec: ofSecrets });
    const { requests } = planSweeps([policy], new Map());
    expect(requests).toMatchObject([{ policy: 'mpol:p', rule: 'mutations', cause: 'policyUpdate' }]);
    expect(planReconciles([policy], 1_000, 0, 100_000)).toHaveLength(1);
    const reading = policyOf({ spec: ofSecrets, value: 'request.userInfo.username' });
    expect(triggerReads(backgroundRules(reading)[0]?.rule as never).user).toBe(true);
    expect(planReconciles([reading], 1_000, 0, 100_000)).toHaveLength(0);
  });
});

describe('a trigger', () => {
  const outcomes = (spec: string, what: JsonObject, kind?: string) =>
    triggerOutcomes(requestOf(what), policyOf({ spec, ...(kind === undefined ? {} : { kind }) }), {
      dataSource: emptyDataSource,
      environment,
    });

  it.each([
    ['that matches', ofSecrets, configMap, { status: 'passed' }],
    [
      'of another kind',
      ofSecrets,
      object('Secret', 'ns/one'),
      { status: 'skipped', reason: { type: 'match' } },
    ],
    [
      'whose condition is false',
      `${ofSecrets} matchConditions: [{name: shop, expression: object.data.team != "shop"}],`,
      configMap,
      { status: 'skipped', message: 'the match condition shop is false' },
    ],
    [
      'whose condition fails',
      `${ofSecrets} matchConditions: [{name: shop, expression: object.spec.x == 1}],`,
      configMap,
      { status: 'failed', message: 'failed to evaluate match conditions: no such key: spec' },
    ],
  ])('%s', async (_, spec, what, expected) => {
    expect(await outcomes(spec, what)).toMatchObject([expected]);
  });

  it('of a namespaced policy is in its namespace', async () => {
    const elsewhere = object('ConfigMap', 'other/cm');
    expect(await outcomes(ofSecrets, elsewhere, 'NamespacedMutatingPolicy')).toMatchObject([
      { status: 'skipped', reason: { type: 'namespace' } },
    ]);
  });
});

describe('the rights', () => {
  const texts = (list: ReturnType<typeof neededAccess>) =>
    list.map(({ verb, resource, subresource, pointer }) => `${verb} ${resource}/${subresource} ${pointer}`);
  const noKinds = { resourceOf: () => undefined };

  it('are those to change targets and to read triggers', () => {
    const { document } = policyOf({ spec: ofSecrets });
    const at = '/spec/targetMatchConstraints/resourceRules/0';
    expect(texts(neededAccess(document, noKinds))).toEqual(
      ['get', 'list', 'patch'].map((verb) => `${verb} secrets/ ${at}`),
    );
    expect(texts(triggerAccess(document, noKinds))).toEqual(
      ['get', 'list'].map((verb) => `${verb} configmaps/ /spec/matchConstraints/resourceRules/0`),
    );
  });

  it('for subresources are those of the endpoint', () => {
    const { document } = policyOf({ spec: ofSecrets.replace('[secrets]', '[pods/resize]') });
    expect(texts(neededAccess(document, noKinds)).map((text) => text.split(' /')[0])).toEqual([
      'get pods/',
      'list pods/',
      'get pods/resize',
      'patch pods/resize',
    ]);
  });
});
