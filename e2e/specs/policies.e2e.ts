import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { documentedPolicies } from '../documented-policies.ts';
import { grant, hasRight, revoke } from '../installation.ts';
import { configMap, labelPolicy, mergePolicy } from '../objects.ts';
import { becomesTrue, withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { patienceFlag } from '../wait-for.ts';

suite('policies', ({ settings, kubectl, namespace, before, after }) => {
  let server: ClusterServer;
  before(async () => {
    server = await startClusterServer(settings);
    // As a user lets policies change existing objects.
    await grant(kubectl, 'background', 'e2e-policies', [
      {
        apiGroups: ['', 'apps'],
        resources: ['*'],
        verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
      },
    ]);
    await hasRight(kubectl, 'background', 'update', 'secrets');
  });
  after(async () => {
    await revoke(kubectl, 'background', 'e2e-policies');
    await server.uninstall();
  });

  const resources = { namespaces: [namespace] };
  const stage = (value: string) => labelPolicy('stage', 'ConfigMap', { stage: value }, { resources });

  it('take effect within seconds when added, changed and deleted', async () => {
    const probe = configMap('probe');
    await kubectl.sendOk('apply', stage('first'));
    await becomesTrue(
      kubectl,
      'the added policy',
      probe,
      ({ metadata }) => metadata.labels?.['stage'] === 'first',
    );
    await kubectl.sendOk('apply', stage('second'));
    await becomesTrue(
      kubectl,
      'the changed policy',
      probe,
      ({ metadata }) => metadata.labels?.['stage'] === 'second',
    );
    await kubectl.ok('delete', 'clusterpolicies.kyverno.io', 'stage');
    await becomesTrue(kubectl, 'the deleted policy', probe, ({ metadata }) => metadata.labels === undefined);
  });

  it('of a namespace apply only to that namespace', async () => {
    const other = `${namespace}-other`;
    await kubectl.ok('create', 'namespace', other);
    const policy = { ...labelPolicy('local', 'ConfigMap', { local: 'yes' }), kind: 'Policy' };
    await withPolicies(kubectl, [policy], async () => {
      const here = await kubectl.sendOk('create', configMap('here'), '-o', 'json');
      expect(JSON.parse(here.stdout).metadata.labels).toEqual({ local: 'yes' });
      const there = { ...configMap('there'), metadata: { name: 'there', namespace: other } };
      const { stdout } = await kubectl.run(['create', `--namespace=${other}`, '-f', '-', '-o', 'json'], {
        input: JSON.stringify(there),
      });
      expect(JSON.parse(stdout).metadata.labels).toBeUndefined();
      // For other namespaces the API server does not call the webhook.
      const configurations = await kubectl.list('mutatingwebhookconfigurations');
      const selectors = configurations.flatMap(({ webhooks }) =>
        (webhooks as { namespaceSelector: object }[]).map(({ namespaceSelector }) => namespaceSelector),
      );
      expect(selectors).toEqual([
        {
          matchExpressions: [
            expect.objectContaining({ operator: 'NotIn' }),
            { key: 'kubernetes.io/metadata.name', operator: 'In', values: [namespace] },
          ],
        },
      ]);
    });
    await kubectl.ok('delete', 'namespace', other, '--wait=false');
  });

  it.each<[string, JsonObject, RegExp]>([
    [
      'an expression that does not parse',
      labelPolicy('bad-expression', 'ConfigMap', { x: '{{ request.object.[ }}' }),
      /denied the request: .*bad-expression/s,
    ],
    [
      'a rule without a match block',
      labelPolicy('no-match', 'ConfigMap', { a: 'b' }, { rule: { match: {} } }),
      /denied the request: .*match/s,
    ],
    [
      'a rule that changes the kind',
      mergePolicy('other-kind', 'ConfigMap', { kind: 'Secret' }),
      /denied the request: .*kind/s,
    ],
    [
      'an unknown operator',
      labelPolicy(
        'bad-operator',
        'ConfigMap',
        { a: 'b' },
        {
          rule: { preconditions: { all: [{ key: 'a', operator: 'Resembles', value: 'b' }] } },
        },
      ),
      /Resembles/,
    ],
  ])('are refused, with the reason: %s', async (_, policy, reason) => {
    const answer = await kubectl.send('apply', policy);
    expect(answer.stderr).toMatch(reason);
    expect(answer.code).toBe(1);
  });

  it('are refused with all their problems at once', async () => {
    const policy = labelPolicy(
      'two-problems',
      'ConfigMap',
      { x: '{{ request.object.[ }}' },
      { rule: { preconditions: { all: [{ key: '{{ nothing( }}', operator: 'Equals', value: 'b' }] } } },
    );
    const { stderr } = await kubectl.send('apply', policy);
    expect(stderr).toContain('patchStrategicMerge');
    expect(stderr).toContain('preconditions');
  });

  it('of the documentation are accepted as they are written', async () => {
    // The namespace that they speak of.
    await kubectl.ok('create', 'namespace', 'example');
    const inExample = kubectl.with('--namespace=example');
    const policies = [
      ...documentedPolicies('seeds-003').filter(({ id }) => id.startsWith('seed-reads-line-')),
      // A4 has a name that no object in a cluster can have.
      ...documentedPolicies('seeds-002').filter(({ id }) => /^a[12356]$/.test(id)),
    ];
    expect(policies.length).toBeGreaterThan(30);
    for (const { id, text } of policies) {
      const answer = await inExample.send('create', text, '--dry-run=server');
      expect(answer.code, `${id}: ${answer.stderr}`).toBe(0);
    }
    await kubectl.ok('delete', 'namespace', 'example', '--wait=false');
  });

  it('whose matchConditions the API server refuses are not Ready, with its message; others are', async () => {
    const conditions = [{ name: 'wrong', expression: 'object.metadata.no-such-operator(' }];
    const refused = labelPolicy(
      'refused',
      'ConfigMap',
      { refused: 'yes' },
      { resources, spec: { webhookConfiguration: { matchConditions: conditions } } },
    );
    await kubectl.sendOk('apply', refused);
    await withPolicies(
      kubectl,
      [labelPolicy('fine', 'ConfigMap', { fine: 'yes' }, { resources })],
      async () => {
        const { stdout } = await kubectl.sendOk('create', configMap('beside-refused'), '-o', 'json');
        expect(JSON.parse(stdout).metadata.labels).toEqual({ fine: 'yes' });
        await kubectl.ok(
          'wait',
          '--for=condition=Ready=false',
          'clusterpolicies.kyverno.io/refused',
          patienceFlag,
        );
        const { status } = await kubectl.get('clusterpolicies.kyverno.io', 'refused');
        expect(status.conditions[0].message).toMatch(/matchConditions|expression/);
      },
    );
    await kubectl.ok('delete', 'clusterpolicies.kyverno.io', 'refused');
  });

  it('with matchConditions are called only where these hold', async () => {
    const conditions = [{ name: 'only-big', expression: "object.metadata.name.startsWith('big-')" }];
    const policy = labelPolicy(
      'conditional',
      'ConfigMap',
      { big: 'yes' },
      { resources, spec: { webhookConfiguration: { matchConditions: conditions } } },
    );
    await withPolicies(kubectl, [policy], async () => {
      const labelsOf = async (name: string) => {
        const { stdout } = await kubectl.sendOk('create', configMap(name), '-o', 'json');
        return JSON.parse(stdout).metadata.labels;
      };
      expect(await labelsOf('big-one')).toEqual({ big: 'yes' });
      expect(await labelsOf('small-one')).toBeUndefined();
    });
  });

  it('list their rules in their status', async () => {
    const policy = mergePolicy(
      'described',
      'Pod',
      { spec: { '+(priorityClassName)': 'low' } },
      { resources },
    );
    await withPolicies(kubectl, [policy], async () => {
      const { status } = await kubectl.get('clusterpolicies.kyverno.io', 'described');
      expect(status.conditions).toEqual([expect.objectContaining({ type: 'Ready', status: 'True' })]);
      expect(status.rulecount).toMatchObject({ mutate: 1 });
      expect(status.autogen.rules.map((rule: { name: string }) => rule.name)).toEqual([
        'autogen-described',
        'autogen-cronjob-described',
      ]);
      expect(await kubectl.ok('get', 'clusterpolicies.kyverno.io', 'described')).toMatch(
        /NAME.*READY.*\ndescribed .*True/s,
      );
    });
  });

  it('are described by kubectl explain', async () => {
    const field = 'clusterpolicies.spec.rules.mutate.patchStrategicMerge';
    const text = await kubectl.ok('explain', field, '--api-version=kyverno.io/v1');
    expect(text).toMatch(/DESCRIPTION:\n +\w/);
  });

  it('of the same kinds in kymera.io apply as well', async () => {
    const policy = {
      ...labelPolicy('own-group', 'ConfigMap', { own: 'yes' }, { resources }),
      apiVersion: 'kymera.io/v1',
    };
    await withPolicies(kubectl, [policy], async () => {
      const { stdout } = await kubectl.sendOk('create', configMap('own-group'), '-o', 'json');
      expect(JSON.parse(stdout).metadata.labels).toEqual({ own: 'yes' });
    });
  });

  it('with targets are accepted, and report that no background controller runs', async () => {
    const policy = mergePolicy(
      'with-targets',
      'ConfigMap',
      {},
      {
        resources: { ...resources, names: ['trigger'] },
        rule: {
          mutate: {
            targets: [{ apiVersion: 'v1', kind: 'Secret', name: 'target', namespace }],
            patchStrategicMerge: { metadata: { labels: { a: 'b' } } },
          },
        },
      },
    );
    await withPolicies(kubectl, [policy], async () => {
      await expect
        .poll(
          async () =>
            (await kubectl.get('clusterpolicies.kyverno.io', 'with-targets'))['status'].conditions[0].message,
        )
        .toMatch(/do not run: .kymera background. is not running/);
    });
  });
});
