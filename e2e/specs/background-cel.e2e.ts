import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type Background, becomes, startInBackground } from '../background.ts';
import { configMap } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';

interface Parts {
  /** The value of the label `by`, an expression. */
  readonly value: string;
  readonly targets?: JsonObject;
  readonly spec?: JsonObject;
  readonly kind?: 'MutatingPolicy' | 'NamespacedMutatingPolicy';
}

suite('mutate existing with CEL', ({ settings, kubectl, namespace, before, after }) => {
  let background: Background;
  const within = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } };
  const rule = (resource: string, names?: readonly string[]): JsonObject => ({
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE'],
    resources: [resource],
    ...(names === undefined ? {} : { resourceNames: [...names] }),
  });

  function policy(name: string, { value, targets, spec = {}, kind = 'MutatingPolicy' }: Parts): JsonObject {
    const expression = `Object{metadata: Object.metadata{labels: {"by": string(${value})}}}`;
    return {
      apiVersion: 'policies.kyverno.io/v1',
      kind,
      metadata: { name, ...(kind === 'MutatingPolicy' ? {} : { namespace }) },
      spec: {
        evaluation: { mutateExisting: { enabled: true } },
        matchConstraints: { ...within, resourceRules: [rule('configmaps', [`trigger-${name}`])] },
        ...(targets === undefined ? {} : { targetMatchConstraints: targets }),
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
        ...spec,
      },
    };
  }

  const secret = (name: string, data: JsonObject = {}): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    stringData: data,
  });
  const labelled = (name: string, value: string) =>
    becomes(kubectl, 'secret', name, ({ metadata }) => metadata.labels?.['by'] === value);

  before(async () => {
    background = await startInBackground(settings);
  });
  after(() => background.uninstall());

  it('a request changes the targets, with the request and the old object in expressions', async () => {
    await kubectl.sendOk('create', secret('by-rules'));
    const given = policy('rules', {
      value: 'request.operation + "-" + request.object.data.a + "-" + oldObject.data.a',
      targets: { ...within, resourceRules: [rule('secrets', ['by-rules'])] },
      spec: { matchConditions: [{ name: 'updates', expression: 'has(oldObject.metadata)' }] },
    });
    await withPolicies(kubectl, [given], async () => {
      await kubectl.sendOk('create', configMap('trigger-rules', { a: '1' }));
      await kubectl.sendOk('apply', configMap('trigger-rules', { a: '2' }));
      await labelled('by-rules', 'UPDATE-2-1');
      // The trigger itself is not changed.
      expect((await kubectl.get('configmap', 'trigger-rules')).metadata.labels).toBeUndefined();
    });
  });

  it('an expression finds the targets', async () => {
    await kubectl.sendOk('create', [secret('by-name'), secret('not-by-name')]);
    const given = policy('expression', {
      value: 'request.name',
      targets: { expression: 'resource.Get("v1", "secrets", object.metadata.namespace, object.data.secret)' },
    });
    await withPolicies(kubectl, [given], async () => {
      await kubectl.sendOk('create', configMap('trigger-expression', { secret: 'by-name' }));
      await labelled('by-name', 'trigger-expression');
      expect((await kubectl.get('secret', 'not-by-name')).metadata.labels).toBeUndefined();
    });
  });

  it('a new policy changes what exists, and conditions decide per target', async () => {
    await kubectl.sendOk('create', [secret('swept', { a: '1' }), secret('not-swept', { b: '1' })]);
    const given = policy('sweep', {
      value: 'request.operation',
      targets: { ...within, resourceRules: [rule('secrets', ['swept', 'not-swept'])] },
      spec: { targetMatchConditions: [{ name: 'has-a', expression: '"a" in object.data' }] },
    });
    await withPolicies(kubectl, [given], async () => {
      await labelled('swept', 'UPDATE');
      await background.settled();
      expect((await kubectl.get('secret', 'not-swept')).metadata.labels).toBeUndefined();
      const requests = await background.updateRequests();
      expect(requests.filter(({ status }) => status?.state === 'Failed')).toEqual([]);
    });
  });

  it('a namespaced policy without target constraints changes what it matches, old and new', async () => {
    await kubectl.sendOk('create', configMap('trigger-both'));
    const given = policy('both', { value: 'request.operation', kind: 'NamespacedMutatingPolicy' });
    await withPolicies(kubectl, [given], async () => {
      await becomes(
        kubectl,
        'configmap',
        'trigger-both',
        ({ metadata }) => metadata.labels?.['by'] === 'UPDATE',
      );
      await kubectl.ok('delete', 'configmap', 'trigger-both');
      const made = await kubectl.sendOk('create', configMap('trigger-both'), '-o', 'json');
      expect(JSON.parse(made.stdout).metadata.labels).toEqual({ by: 'CREATE' });
    });
  });

  it('a policy whose targets the background controller may not change is refused, with the role', async () => {
    const given = policy('rights', {
      value: 'request.name',
      targets: { ...within, resourceRules: [rule('limitranges')] },
    });
    const answer = await kubectl.send('create', given);
    expect(answer.code).toBe(1);
    expect(answer.stderr).toMatch(/additional privileges are required .*patch limitranges/);
    expect(answer.stderr).toMatch(/kind: ClusterRole/);
  });
});
