import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, valueAt } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { smallCluster } from '../api/served-kinds.testing.ts';
import { kinds, policy, rule } from '../policies/policy.testing.ts';
import { mutatingConfiguration, validatingConfiguration } from './configuration.ts';
import type { WebhookSettings } from './settings.ts';

const settings: WebhookSettings = {
  target: { url: 'https://127.0.0.1:9443', caBundle: 'Q0E=' },
  namespace: 'kymera-system',
};

function webhooksOf(
  policies: readonly CompiledPolicy[],
  more: Partial<WebhookSettings> = {},
): readonly JsonObject[] {
  const { document } = mutatingConfiguration(policies, smallCluster, { ...settings, ...more });
  return document['webhooks'] as readonly JsonObject[];
}

function rulesOf(match: JsonObject, more: JsonObject = {}, namespace?: string): Json {
  const made = policy('p', [rule(match, more)], namespace === undefined ? {} : { namespace });
  return webhooksOf([made])[0]?.['rules'] ?? [];
}

const pods = {
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['pods', 'pods/ephemeralcontainers'],
  operations: ['CREATE', 'UPDATE'],
  scope: 'Namespaced',
};

describe('rules of the webhook', () => {
  it('name the resource of a kind, and ephemeral containers with Pods', () => {
    expect(rulesOf(kinds('Pod'))).toEqual([pods]);
  });

  it('name every served version of a kind', () => {
    expect(rulesOf(kinds('HorizontalPodAutoscaler'))).toEqual([
      expect.objectContaining({ apiGroups: ['autoscaling'], apiVersions: ['v1', 'v2'] }),
    ]);
  });

  it('name one version when the policy does', () => {
    expect(rulesOf(kinds('autoscaling/v2/HorizontalPodAutoscaler'))).toEqual([
      expect.objectContaining({ apiVersions: ['v2'] }),
    ]);
  });

  it('name subresources', () => {
    expect(rulesOf(kinds('Deployment/scale'))).toEqual([
      expect.objectContaining({ apiGroups: ['apps'], resources: ['deployments/scale'] }),
    ]);
  });

  it('take the operations that a block lists, but never DELETE', () => {
    const match = { any: [{ resources: { kinds: ['ConfigMap'], operations: ['CREATE', 'DELETE'] } }] };
    expect(rulesOf(match)).toEqual([expect.objectContaining({ operations: ['CREATE'] })]);
  });

  it('take CONNECT only when it is listed', () => {
    const match = { any: [{ resources: { kinds: ['Pod/exec'], operations: ['CONNECT'] } }] };
    expect(rulesOf(match)).toEqual([
      expect.objectContaining({ resources: ['pods/exec'], operations: ['CONNECT'] }),
    ]);
  });

  it('add up over blocks of any', () => {
    const match = {
      any: [
        { resources: { kinds: ['ConfigMap'], operations: ['CREATE'] } },
        { resources: { kinds: ['ConfigMap'], operations: ['UPDATE'] } },
      ],
    };
    expect(rulesOf(match)).toEqual([expect.objectContaining({ operations: ['CREATE', 'UPDATE'] })]);
  });

  it('hold what all blocks of all have in common', () => {
    const match = {
      all: [
        { resources: { kinds: ['ConfigMap', 'Deployment'], operations: ['CREATE', 'UPDATE'] } },
        { resources: { kinds: ['Deployment'], operations: ['CREATE'] } },
      ],
    };
    expect(rulesOf(match)).toEqual([
      expect.objectContaining({ resources: ['deployments'], operations: ['CREATE'] }),
    ]);
  });

  it('leave out what exclude takes away by kind', () => {
    expect(rulesOf(kinds('ConfigMap', 'Deployment'), { exclude: kinds('Deployment') })).toEqual([
      expect.objectContaining({ resources: ['configmaps'] }),
    ]);
  });

  it('leave out operations that exclude takes away', () => {
    const exclude = { any: [{ resources: { operations: ['UPDATE'] } }] };
    expect(rulesOf(kinds('ConfigMap'), { exclude })).toEqual([
      expect.objectContaining({ operations: ['CREATE'] }),
    ]);
  });

  it('keep what exclude takes away for some objects only', () => {
    const exclude = { any: [{ resources: { kinds: ['ConfigMap'], names: ['a'] } }] };
    expect(rulesOf(kinds('ConfigMap'), { exclude })).toEqual([
      expect.objectContaining({ resources: ['configmaps'] }),
    ]);
  });

  it('have scope Cluster for kinds without a namespace', () => {
    expect(rulesOf(kinds('Namespace'))).toEqual([
      expect.objectContaining({ resources: ['namespaces'], scope: 'Cluster' }),
    ]);
  });

  it('put equal operations of one version together, in a fixed order', () => {
    expect(rulesOf(kinds('Deployment', 'Pod', 'ConfigMap'))).toEqual([
      { ...pods, resources: ['configmaps', 'pods', 'pods/ephemeralcontainers'] },
      expect.objectContaining({ apiGroups: ['apps'] }),
    ]);
  });

  it('do not depend on the order of policies', () => {
    const one = policy('one', [rule(kinds('Pod'))]);
    const two = policy('two', [rule(kinds('Deployment', 'ConfigMap'))]);
    expect(webhooksOf([one, two])).toEqual(webhooksOf([two, one]));
  });

  it('reach with a wildcard whatever can be written, but no kind on which the cluster depends', () => {
    const rules = rulesOf(kinds('*')) as unknown as readonly { resources: readonly string[] }[];
    expect(rules.flatMap(({ resources }) => resources).sort()).toEqual([
      'configmaps',
      'deployments',
      'horizontalpodautoscalers',
      'namespaces',
      'pods',
      'pods/ephemeralcontainers',
    ]);
  });

  it.each([
    ['Node', 'nodes'],
    ['Lease', 'leases'],
    ['ClusterRole', 'clusterroles'],
    ['Event', 'events'],
    ['TokenReview', 'tokenreviews'],
  ])('reach %s when a policy names it', (kind, resource) => {
    expect(rulesOf(kinds(kind))).toEqual([expect.objectContaining({ resources: [resource] })]);
  });

  it('hold nothing cluster-wide for a Policy of a namespace', () => {
    const rules = rulesOf(kinds('*'), {}, 'team') as readonly JsonObject[];
    expect(new Set(rules.map(({ scope }) => scope))).toEqual(new Set(['Namespaced']));
  });

  it('say nothing of rules for existing objects', () => {
    const mutate = {
      targets: [{ apiVersion: 'v1', kind: 'ConfigMap' }],
      patchStrategicMerge: { metadata: { labels: { a: 'b' } } },
    };
    expect(webhooksOf([policy('p', [rule(kinds('Pod'), { mutate })])])).toEqual([]);
  });
});

describe('entries of the webhook', () => {
  const label = (name: string, spec: JsonObject = {}) => policy(name, [rule(kinds('Pod'))], { spec });
  const ignore = { webhookConfiguration: { failurePolicy: 'Ignore' } };
  const appending = rule(kinds('Pod'), {
    mutate: { patchesJson6902: '- {op: add, path: /spec/containers/-, value: {name: x}}' },
  });

  it('are split by failure policy, each with its path', () => {
    const webhooks = webhooksOf([label('a'), label('b', ignore)]);
    expect(webhooks.map(({ name, failurePolicy }) => [name, failurePolicy])).toEqual([
      ['ignore.mutate.kymera.io', 'Ignore'],
      ['fail.mutate.kymera.io', 'Fail'],
    ]);
    expect(webhooks.map((each) => valueAt(each, ['clientConfig', 'url']))).toEqual([
      'https://127.0.0.1:9443/mutate/ignore',
      'https://127.0.0.1:9443/mutate/fail',
    ]);
  });

  it('are none without policies, and none for kinds that nothing serves', () => {
    expect(webhooksOf([])).toEqual([]);
    const { document, unknownKinds } = mutatingConfiguration(
      [policy('p', [rule(kinds('Gadget'))])],
      smallCluster,
      settings,
    );
    expect(document['webhooks']).toEqual([]);
    expect([...unknownKinds]).toEqual([['p', ['Gadget']]]);
  });

  it('take the longest timeout of their policies, at least the default, at most 30 seconds', () => {
    const timeout = (timeoutSeconds: number) => label('p', { webhookConfiguration: { timeoutSeconds } });
    expect(webhooksOf([timeout(3)])[0]).toMatchObject({ timeoutSeconds: 10 });
    expect(webhooksOf([timeout(3), timeout(25)])[0]).toMatchObject({ timeoutSeconds: 25 });
  });

  it('do not take the timeout of a namespaced policy, which has its own entry instead', () => {
    const spec = { webhookConfiguration: { timeoutSeconds: 30 } };
    const tenant = policy('slow', [rule(kinds('Pod'))], { spec, namespace: 'team' });
    const [shared, own, ...more] = webhooksOf([label('p'), tenant]);
    expect(shared).toMatchObject({ name: 'fail.mutate.kymera.io', timeoutSeconds: 10 });
    expect(own).toMatchObject({ name: 'slow.team.policy.fail.mutate.kymera.io', timeoutSeconds: 30 });
    expect(JSON.stringify(own?.['namespaceSelector'])).toContain('"operator":"In","values":["team"]');
    expect(more).toEqual([]);
  });

  it('stand apart, with their own timeout, for a policy with match conditions', () => {
    const conditions = [{ name: 'not-root', expression: "request.userInfo.username != 'root'" }];
    const conditional = label('c', {
      webhookConfiguration: { matchConditions: conditions, timeoutSeconds: 3 },
    });
    const webhooks = webhooksOf([label('a'), conditional], {
      matchConditions: [{ name: 'all', expression: 'true' }],
    });
    expect(webhooks.map(({ name, matchConditions }) => [name, matchConditions])).toEqual([
      ['fail.mutate.kymera.io', [{ name: 'all', expression: 'true' }]],
      ['c.cluster-policy.fail.mutate.kymera.io', conditions],
    ]);
    expect(webhooks[1]).toMatchObject({
      timeoutSeconds: 3,
      clientConfig: { url: 'https://127.0.0.1:9443/mutate/fail/finegrained/c' },
    });
  });

  it('stand apart and are never called again when a second run would change the result', () => {
    const webhooks = webhooksOf([label('a', ignore), policy('insert', [appending])]);
    expect(webhooks.map(({ name, reinvocationPolicy }) => [name, reinvocationPolicy])).toEqual([
      ['ignore.mutate.kymera.io', 'IfNeeded'],
      ['insert.cluster-policy.fail.mutate.kymera.io', 'Never'],
    ]);
  });

  it('name a namespaced policy by name and namespace', () => {
    const webhooks = webhooksOf([policy('insert', [appending], { namespace: 'team' })]);
    expect(webhooks[0]).toMatchObject({
      name: 'insert.team.policy.fail.mutate.kymera.io',
      clientConfig: { url: 'https://127.0.0.1:9443/mutate/fail/finegrained/team/insert' },
    });
  });

  describe('for a Policy of a namespace', () => {
    const local = (namespace: string, ...names: string[]) =>
      policy(`of-${namespace}`, [rule(kinds(...names))], { namespace });
    const selected = (webhook: JsonObject | undefined) =>
      valueAt(webhook ?? {}, ['namespaceSelector', 'matchExpressions', 1]);

    it('are for that namespace only', () => {
      const [webhook, ...others] = webhooksOf([local('team', 'Pod')]);
      expect(others).toEqual([]);
      expect(webhook).toMatchObject({
        name: 'team.namespace.fail.mutate.kymera.io',
        clientConfig: { url: 'https://127.0.0.1:9443/mutate/fail' },
        rules: [pods],
      });
      expect(selected(webhook)).toEqual({
        key: 'kubernetes.io/metadata.name',
        operator: 'In',
        values: ['team'],
      });
    });

    it('are merged for namespaces with the same rules', () => {
      const policies = ['b', 'a', 'c'].map((namespace) =>
        local(namespace, namespace === 'c' ? 'ConfigMap' : 'Pod'),
      );
      expect(
        webhooksOf(policies).map((each) => [each['name'], valueAt(selected(each) ?? {}, ['values'])]),
      ).toEqual([
        ['a.namespace.fail.mutate.kymera.io', ['a', 'b']],
        ['c.namespace.fail.mutate.kymera.io', ['c']],
      ]);
    });

    it('contain only what no ClusterPolicy covers, whose call applies both', () => {
      const webhooks = webhooksOf([label('a'), local('team', 'Pod', 'ConfigMap'), local('other', 'Pod')]);
      expect(webhooks.map(({ name, rules }) => [name, valueAt(rules ?? [], [0, 'resources'])])).toEqual([
        ['fail.mutate.kymera.io', ['pods', 'pods/ephemeralcontainers']],
        ['team.namespace.fail.mutate.kymera.io', ['configmaps']],
      ]);
      expect(selected(webhooks[0])).toBeUndefined();
    });

    it('are apart from those of the other failure policy', () => {
      const webhooks = webhooksOf([label('a', ignore), local('team', 'Pod')]);
      expect(webhooks.map(({ name }) => name)).toEqual([
        'ignore.mutate.kymera.io',
        'team.namespace.fail.mutate.kymera.io',
      ]);
    });

    it('are for that namespace only when it has an entry of its own', () => {
      const [webhook] = webhooksOf([policy('insert', [appending], { namespace: 'team' })]);
      expect(selected(webhook)).toMatchObject({ operator: 'In', values: ['team'] });
    });
  });

  it('leave out kube-system and the own namespace', () => {
    expect(webhooksOf([label('a')])[0]?.['namespaceSelector']).toEqual({
      matchExpressions: [
        { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', 'kymera-system'] },
      ],
    });
  });

  it('leave out the own namespace whatever selector is configured', () => {
    const namespaceSelector = { matchLabels: { mutate: 'yes' } };
    expect(webhooksOf([label('a')], { namespaceSelector })[0]?.['namespaceSelector']).toEqual({
      matchLabels: { mutate: 'yes' },
      matchExpressions: [
        { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kymera-system'] },
      ],
    });
  });

  it('can be reached through a Service', () => {
    const service = { namespace: 'kymera-system', name: 'kymera', port: 443 };
    expect(webhooksOf([label('a')], { target: { service, caBundle: 'Q0E=' } })[0]?.['clientConfig']).toEqual({
      caBundle: 'Q0E=',
      service: { ...service, path: '/mutate/fail' },
    });
  });

  it('say how they behave', () => {
    expect(webhooksOf([label('a')])[0]).toMatchObject({
      admissionReviewVersions: ['v1'],
      matchPolicy: 'Equivalent',
      reinvocationPolicy: 'IfNeeded',
      sideEffects: 'NoneOnDryRun',
      objectSelector: {},
    });
  });
});

describe('the configuration that checks policies', () => {
  const entry = valueAt(validatingConfiguration(settings), ['webhooks', 0]) as JsonObject;

  it('never prevents fixing or deleting a policy', () => {
    expect(entry['failurePolicy']).toBe('Ignore');
    expect((entry['rules'] as readonly JsonObject[]).flatMap(({ operations }) => operations)).not.toContain(
      'DELETE',
    );
  });
});
