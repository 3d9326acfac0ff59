import { describe, expect, it } from 'vitest';
import { createModeSplitter } from '../../admission/policy-mode.ts';
import type { JsonObject } from '../../json/value.ts';
import { loadCelCompilers } from '../../policy/cel-documents.ts';
import { indexedSubject } from '../../policy/policy.testing.ts';
import { createPolicyCatalog } from './catalog.ts';
import { celEntryId } from './grouping.ts';
import { exceptionKinds, policyKinds } from './kinds.ts';
import { kinds, mutatingPolicyDocument, rule } from './policy.testing.ts';

const cel = await loadCelCompilers();

const [ruleExceptions, celExceptions] = exceptionKinds;
if (!ruleExceptions || !celExceptions) throw new Error('no kinds');
const [clusterPolicy, namespacedPolicy, kymeraClusterPolicy] = policyKinds;
if (!clusterPolicy || !namespacedPolicy || !kymeraClusterPolicy) throw new Error('no kinds');

function object(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: { name, uid: name, generation: 1, ...metadata },
    spec: { background: false, rules: [rule(kinds('ConfigMap'))], ...spec },
  };
}

const manyRules = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, index) => ({ ...rule(kinds('ConfigMap')), name: `r${index}` }));

describe('a policy that is too large', () => {
  it('is not compiled, and its record says why', () => {
    const catalog = catalogOf();
    catalog.set(clusterPolicy, 'big', object('big', { rules: manyRules(4_000) }));
    expect(catalog.policies()).toEqual([]);
    expect(catalog.records()[0]?.problems).toMatchObject([{ code: 'KYM_INPUT_TOO_LARGE' }]);
  });
});

const catalogOf = (exceptionNamespaces: readonly string[] = []) =>
  createPolicyCatalog({ kinds: policyKinds, cel, exceptionNamespaces });
const pod = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  subresource: '',
  subject: indexedSubject(),
  operation: 'CREATE',
} as const;

describe('the policies of a cluster', () => {
  it('are in force when they load', () => {
    const catalog = catalogOf();
    catalog.set(clusterPolicy, 'good', object('good'));
    catalog.set(clusterPolicy, 'bad', object('bad', { rules: [{ name: 'x' }] }));
    expect(catalog.policies().map(({ key }) => key)).toEqual(['good']);
    expect(catalog.records().map(({ policy, problems }) => [policy?.key, problems.length > 0])).toEqual([
      [undefined, true],
      ['good', false],
    ]);
  });

  it('are removed when they are deleted', () => {
    const catalog = catalogOf();
    catalog.set(clusterPolicy, 'good', object('good'));
    catalog.set(clusterPolicy, 'good', undefined);
    expect(catalog.sets().all.policies).toEqual([]);
  });

  it('are not compiled again when only their status changes', () => {
    const catalog = catalogOf();
    catalog.set(clusterPolicy, 'good', object('good'));
    const before = catalog.sets();
    catalog.set(clusterPolicy, 'good', { ...object('good'), status: { conditions: [] } });
    expect(catalog.sets()).toBe(before);
    expect(catalog.records()[0]?.object).toHaveProperty('status');
    catalog.set(clusterPolicy, 'good', object('good', {}, { generation: 2 }));
    expect(catalog.sets()).not.toBe(before);
  });

  it('count once when two groups have one name', () => {
    const catalog = catalogOf();
    catalog.set(kymeraClusterPolicy, 'same', { ...object('same'), apiVersion: 'kymera.io/v1' });
    catalog.set(clusterPolicy, 'same', object('same'));
    expect(catalog.policies().map(({ apiVersion }) => apiVersion)).toEqual(['kyverno.io/v1']);
    expect(catalog.records()[1]?.hiddenBy).toBe('kyverno.io');
  });

  it('are split by failure policy; one that is called on its own is in neither part', () => {
    const catalog = catalogOf();
    catalog.set(clusterPolicy, 'fail', object('fail'));
    catalog.set(
      clusterPolicy,
      'ignore',
      object('ignore', { webhookConfiguration: { failurePolicy: 'Ignore' } }),
    );
    catalog.set(
      clusterPolicy,
      'once',
      object('once', {}, { annotations: { 'kymera.io/reinvocation': 'never' } }),
    );
    const sets = catalog.sets();
    expect(sets.all.policies.map(({ key }) => key)).toEqual(['fail', 'ignore', 'once']);
    expect(sets.fail.policies.map(({ key }) => key)).toEqual(['fail']);
    expect(sets.ignore.policies.map(({ key }) => key)).toEqual(['ignore']);
    expect(sets.policy('once')?.policies.map(({ key }) => key)).toEqual(['once']);
    expect(sets.policy('other')).toBeUndefined();
  });

  it('never fail a request when that is forced', () => {
    const catalog = createPolicyCatalog({ kinds: policyKinds, cel, forceIgnore: true });
    catalog.set(clusterPolicy, 'p', object('p'));
    expect(catalog.sets().fail.policies).toEqual([]);
    expect(catalog.sets().ignore.policies).toMatchObject([{ key: 'p', failurePolicy: 'Ignore' }]);
  });

  it('do not reach protected kinds by a wildcard', () => {
    const catalog = catalogOf();
    catalog.set(clusterPolicy, 'all', object('all', { rules: [rule(kinds('*'))] }));
    catalog.set(clusterPolicy, 'node', object('node', { rules: [rule(kinds('Node'))] }));
    const { all } = catalog.sets();
    const found = (kind: string) => all.candidates({ ...pod, kind }).map(({ policy }) => policy.key);
    expect(found('ConfigMap')).toEqual(['all']);
    expect(found('Node')).toEqual(['node']);
  });

  it('do not reach protected kinds by a wildcard when some are in audit mode', () => {
    const audit = { annotations: { 'kymera.io/mode': 'audit' } };
    const catalog = catalogOf();
    for (const [name, metadata] of [
      ['enforced', {}],
      ['audited', audit],
    ] as const) {
      catalog.set(clusterPolicy, name, object(name, { rules: [rule(kinds('*'))] }, metadata));
      catalog.set(
        clusterPolicy,
        `${name}-node`,
        object(`${name}-node`, { rules: [rule(kinds('Node'))] }, metadata),
      );
    }
    const { enforced, audited } = createModeSplitter()(catalog.sets().all);
    const found = (kind: string) =>
      [enforced, audited].map((part) => part?.candidates({ ...pod, kind }).map(({ policy }) => policy.key));
    expect(found('ConfigMap')).toEqual([['enforced'], ['audited']]);
    expect(found('Node')).toEqual([['enforced-node'], ['audited-node']]);
    expect([enforced, audited].map((part) => part?.policies.map(({ key }) => key))).toEqual([
      ['enforced', 'enforced-node'],
      ['audited', 'audited-node'],
    ]);
  });

  it('in the old dialect are recognised by their fields, without the defaults that were added', () => {
    const catalog = catalogOf();
    catalog.set(namespacedPolicy, 'team/old', {
      apiVersion: 'kyverno.io/v1',
      kind: 'Policy',
      metadata: { name: 'old', namespace: 'team', uid: 'u', generation: 1 },
      spec: {
        admission: true,
        background: true,
        emitWarning: false,
        rules: [
          {
            name: 'x',
            resource: { kind: 'Secret' },
            mutate: { patches: [{ op: 'remove', path: '/metadata/labels/a' }] },
          },
        ],
      },
    });
    expect(catalog.records()[0]?.problems).toEqual([]);
    expect(catalog.policies()[0]).toMatchObject({ key: 'team/old', apiVersion: 'kyverno.io/v1alpha1' });
  });
});

describe('exceptions', () => {
  const exception = {
    apiVersion: 'kyverno.io/v2',
    kind: 'PolicyException',
    metadata: { name: 'e', namespace: 'ops' },
    spec: { match: kinds('Pod'), exceptions: [{ policyName: 'p', ruleNames: ['rule'] }] },
  };

  it.each([
    [[], 0],
    [['other'], 0],
    [['ops'], 1],
    [['*'], 1],
  ])('from the namespaces %j count only: %i', (namespaces, count) => {
    const catalog = catalogOf(namespaces);
    catalog.setException(ruleExceptions, 'ops/e', exception);
    expect(catalog.sets().all.exceptions).toHaveLength(count);
  });
});

describe('CEL policies', () => {
  const mutatingPolicy = policyKinds.find(({ kind }) => kind === 'MutatingPolicy');
  if (mutatingPolicy === undefined) throw new Error('no kind');
  const celObject = (name: string, spec: JsonObject = {}): JsonObject =>
    mutatingPolicyDocument(name, spec, { uid: name, generation: 1 });

  it('apply beside a ClusterPolicy of the same name, after all of those', () => {
    const catalog = catalogOf();
    catalog.set(mutatingPolicy, 'a', celObject('a'));
    catalog.set(clusterPolicy, 'a', object('a'));
    catalog.set(clusterPolicy, 'b', object('b'));
    expect(catalog.records().map(({ hiddenBy }) => hiddenBy)).toEqual([undefined, undefined, undefined]);
    expect(catalog.sets().all.policies.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'ClusterPolicy a',
      'ClusterPolicy b',
      'MutatingPolicy a',
    ]);
  });

  it('do not run while the API server evaluates them, and their paths deny nothing', () => {
    const withStatus = (generated: boolean) => ({
      ...celObject('a', { webhookConfiguration: { timeoutSeconds: 20 } }),
      status: { generated },
    });
    const idsOf = (catalog: ReturnType<typeof catalogOf>) => [
      catalog.policies().map(({ key }) => key),
      catalog.sets().all.policies.map(({ key }) => key),
      catalog
        .sets()
        .policy('mpol:a')
        ?.policies.map(({ key }) => key),
    ];
    const catalog = createPolicyCatalog({ kinds: policyKinds, cel, omitGenerated: true });
    // Only the status changes.
    catalog.set(mutatingPolicy, 'a', withStatus(false));
    expect(idsOf(catalog)).toEqual([['a'], ['a'], ['a']]);
    catalog.set(mutatingPolicy, 'a', withStatus(true));
    expect(idsOf(catalog)).toEqual([[], [], []]);
    expect(catalog.records().map(({ policy }) => policy?.key)).toEqual(['a']);
    catalog.set(mutatingPolicy, 'a', withStatus(false));
    expect(idsOf(catalog)).toEqual([['a'], ['a'], ['a']]);
    // A server that generates none does not rely on the status.
    const other = catalogOf();
    other.set(mutatingPolicy, 'a', withStatus(true));
    expect(idsOf(other)).toEqual([['a'], ['a'], ['a']]);
  });

  it('have paths of their own, alone or with those that the API server can treat alike', () => {
    const catalog = catalogOf();
    catalog.set(clusterPolicy, 'a', object('a'));
    for (const name of ['b', 'a']) catalog.set(mutatingPolicy, name, celObject(name));
    catalog.set(mutatingPolicy, 'slow', celObject('slow', { webhookConfiguration: { timeoutSeconds: 20 } }));
    const sets = catalog.sets();
    const namesOf = (id: string) => sets.policy(id)?.policies.map(({ kind, name }) => `${kind} ${name}`);
    expect(sets.fail.policies.map(({ kind }) => kind)).toEqual(['ClusterPolicy']);
    expect(namesOf('a')).toEqual(['ClusterPolicy a']);
    expect(namesOf('mpol:slow')).toEqual(['MutatingPolicy slow']);
    const [, shared] = sets.all.policies.filter(({ kind }) => kind === 'MutatingPolicy');
    if (shared === undefined) throw new Error('no policy');
    expect(namesOf(celEntryId(shared))).toEqual(['MutatingPolicy a', 'MutatingPolicy b']);
    // Until the webhook configuration is updated, the API server calls the path of deleted policies: it denies nothing.
    for (const name of ['a', 'b', 'slow']) catalog.set(mutatingPolicy, name, undefined);
    expect(catalog.sets().policy(celEntryId(shared))?.policies).toEqual([]);
    expect(catalog.sets().policy('mpol:slow')).toBeUndefined();
  });

  it('with an invalid expression do not apply, and the record says where it is invalid', () => {
    const catalog = catalogOf();
    const matchConditions = [{ name: 'c', expression: 'object.kind ==\n  nothing' }];
    catalog.set(mutatingPolicy, 'bad', celObject('bad', { matchConditions }));
    expect(catalog.policies()).toEqual([]);
    expect(catalog.records()[0]?.problems[0]).toMatchObject({
      pointer: '/spec/matchConditions/0/expression',
      message: expect.stringContaining('(at line 2, column 3 of the expression)'),
    });
  });

  it('are disabled by the exceptions of their group, and both groups may use one name', () => {
    const catalog = catalogOf(['*']);
    const spec = { policyRefs: [{ name: 'a', kind: 'MutatingPolicy' }] };
    const metadata = { name: 'e', namespace: 'ops' };
    catalog.set(mutatingPolicy, 'a', celObject('a'));
    catalog.setException(celExceptions, 'ops/e', {
      apiVersion: 'policies.kyverno.io/v1',
      kind: 'PolicyException',
      metadata,
      spec,
    });
    catalog.setException(ruleExceptions, 'ops/e', undefined);
    const { all } = catalog.sets();
    const [policy] = all.policies;
    if (policy === undefined) throw new Error('no policy');
    expect(all.celExceptionsFor(policy)).toMatchObject([{ key: 'ops/e' }]);
  });
});
