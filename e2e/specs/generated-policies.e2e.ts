import { expect, it } from 'vitest';
import { connect } from '../../src/cluster/api/connect.ts';
import { resourceTypes } from '../../src/cluster/api/resource-path.ts';
import { labelsOf } from '../../src/json/metadata.ts';
import { readObject, readText } from '../../src/json/read-field.ts';
import type { JsonObject } from '../../src/json/value.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { configMap } from '../objects.ts';
import { applyPolicies, becomesTrue } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { patienceFlag, waitFor } from '../wait-for.ts';

const [kind, bindingKind] = ['mutatingadmissionpolicy', 'mutatingadmissionpolicybinding'];

suite('generated admission policies', ({ settings, kubectl, namespace, before, after }) => {
  let server: ClusterServer;
  before(async () => {
    server = await startClusterServer(settings, {
      args: [
        ...['--exception-namespace', namespace],
        ...['--exclude-groups', 'system:nodes,*:none'],
        ...['--resource-filters', `[Event,*,*][*/*,kube-*,*][ConfigMap,${namespace},filtered-?]`],
      ],
    });
  });
  after(async () => {
    await kubectl.run(['delete', 'mutatingpolicies', 'moved', 'taken', '--ignore-not-found']);
    await kubectl.run(['delete', kind, 'mpol-taken', '--ignore-not-found']);
    await server.uninstall();
  });

  const policy = (name: string, value: string, spec: JsonObject = {}): JsonObject => ({
    apiVersion: 'policies.kyverno.io/v1',
    kind: 'MutatingPolicy',
    metadata: { name },
    spec: {
      matchConstraints: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['configmaps'],
          },
        ],
      },
      // A second run would show.
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: {
            expression: `Object{metadata: Object.metadata{labels: {"by": object.metadata.?labels[?"by"].orValue("") + "${value}"}}}`,
          },
        },
      ],
      autogen: { mutatingAdmissionPolicy: { enabled: true } },
      ...spec,
    },
  });
  const enabled = (isEnabled: boolean) => ({ autogen: { mutatingAdmissionPolicy: { enabled: isEnabled } } });
  const statusOf = async (name: string) =>
    (await kubectl.get('mutatingpolicy', name))['status'] as JsonObject;
  const messageOf = async (name: string) =>
    readText(readObject(await statusOf(name), 'conditionStatus') ?? {}, 'message') ?? '';
  const becomesGenerated = (name: string, expected: boolean) =>
    waitFor(async () => (await statusOf(name))?.['generated'] === expected, {
      what: `generated is ${expected}`,
    });
  const exists = async (what: string, name: string) => (await kubectl.run(['get', what, name])).code === 0;
  /** A policy without special fields shares its entry, so that the rules tell. */
  const isInWebhooks = async () =>
    JSON.stringify(await kubectl.get('mutatingwebhookconfiguration', 'kymera-resource-mutation')).includes(
      'configmaps',
    );
  const isInForce = (value: string) =>
    becomesTrue(
      kubectl,
      `label ${value}`,
      configMap('probe'),
      ({ metadata }) => metadata.labels?.['by'] === value,
    );
  const isGone = (name: string) =>
    waitFor(
      async () =>
        !(await exists(kind, `mpol-${name}`)) && !(await exists(bindingKind, `mpol-${name}-binding`)),
      { what: 'the objects are deleted' },
    );

  it('are enforced by the API server, and no longer by the webhook', async () => {
    await applyPolicies(kubectl, [policy('moved', 'a')]);
    await becomesGenerated('moved', true);
    await waitFor(async () => !(await isInWebhooks()), { what: 'the policy left the webhooks' });
    expect(await messageOf('moved')).toBe('Ready; the API server evaluates it as a MutatingAdmissionPolicy');
    const { metadata } = await kubectl.get(kind, 'mpol-moved');
    expect(metadata).toMatchObject({
      labels: { 'app.kubernetes.io/managed-by': 'kymera' },
      ownerReferences: [{ kind: 'MutatingPolicy', name: 'moved' }],
    });
    // Once, not twice.
    await isInForce('a');
    const { stdout } = await kubectl.sendOk(
      'create',
      configMap('filtered-1'),
      '--dry-run=server',
      '-o',
      'json',
    );
    expect(JSON.parse(stdout).metadata.labels).toBeUndefined();
    const asNode = ['--as=system:node:a', '--as-group=system:nodes', '--as-group=system:masters'];
    const byNode = await kubectl.sendOk(
      'create',
      configMap('probe'),
      '--dry-run=server',
      '-o',
      'json',
      ...asNode,
    );
    expect(JSON.parse(byNode.stdout).metadata.labels).toBeUndefined();
  });

  it('are not written again while nothing changes', async () => {
    const version = async () =>
      Promise.all(
        [
          [kind, 'mpol-moved'],
          [bindingKind, 'mpol-moved-binding'],
        ].map(async ([what = '', name = '']) => (await kubectl.get(what, name)).metadata),
      );
    const earlier = await version();
    // A change of another policy makes the leader compare all of them.
    await applyPolicies(kubectl, [policy('taken', 'x', enabled(false))]);
    await kubectl.ok('delete', 'mutatingpolicy', 'taken');
    expect(await version()).toEqual(earlier);
  });

  it('follow the policy, and are restored', async () => {
    await applyPolicies(kubectl, [policy('moved', 'b')]);
    await isInForce('b');
    const edited = JSON.stringify([{ op: 'replace', path: '/spec/policyName', value: 'none' }]);
    await kubectl.ok('patch', bindingKind, 'mpol-moved-binding', '--type=json', '-p', edited);
    await isInForce('b');
    expect(await isInWebhooks()).toBe(false);
  });

  it('leave no gap when they move there and back, and when somebody deletes them', async () => {
    const { client } = await connect({ kubeconfig: settings.kubeconfig });
    const leaves = async () => {
      await becomesGenerated('moved', true);
      await waitFor(async () => !(await isInWebhooks()), { what: 'the policy left the webhooks' });
    };
    const sample = { ...configMap('sample'), metadata: { name: 'sample', namespace } };
    const labels = new Map<string, number>();
    let step = 'start';
    let isOver = false;
    const sampling = (async () => {
      while (!isOver) {
        const before = step;
        const stored = await client.create(resourceTypes.configMaps, sample, { dryRun: true });
        const key = `${before}: ${labelsOf(stored)['by'] === undefined ? 'not in force' : 'in force'}`;
        labels.set(key, (labels.get(key) ?? 0) + 1);
      }
    })();
    try {
      for (const [what, name] of [
        [bindingKind, 'mpol-moved-binding'],
        [kind, 'mpol-moved'],
      ] as const) {
        step = `delete ${name}`;
        await kubectl.ok('delete', what, name, patienceFlag);
        await leaves();
      }
      step = 'back';
      await applyPolicies(kubectl, [policy('moved', 'b', enabled(false))]);
      await isGone('moved');
      step = 'there';
      await applyPolicies(kubectl, [policy('moved', 'b')]);
      await leaves();
    } finally {
      isOver = true;
      await sampling.finally(() => client.close());
    }
    const steps = ['delete mpol-moved-binding', 'delete mpol-moved', 'back', 'there'];
    expect([...labels.keys()].filter((key) => !key.startsWith('start')).sort()).toEqual(
      steps.map((each) => `${each}: in force`).sort(),
    );
    await waitFor(
      async () => {
        const left = [...(await kubectl.list(kind)), ...(await kubectl.list(bindingKind))];
        return left.every(({ metadata }) => !metadata.name.startsWith('kymera-probe'));
      },
      { what: 'the probes are deleted' },
    );
  });

  it('are replaced by the webhook when something would be lost', async () => {
    await applyPolicies(kubectl, [policy('moved', 'c', { evaluation: { useServerSideApply: true } })]);
    await becomesGenerated('moved', false);
    await waitFor(
      async () => (await messageOf('moved')).includes('no MutatingAdmissionPolicy is generated'),
      {
        what: 'the status says why',
      },
    );
    expect(await messageOf('moved')).toContain('spec.evaluation.useServerSideApply: ');
    await isGone('moved');
    expect(await isInWebhooks()).toBe(true);
    await isInForce('c');
  });

  it('give way to exceptions', async () => {
    await applyPolicies(kubectl, [policy('moved', 'd')]);
    await becomesGenerated('moved', true);
    const exception = {
      apiVersion: 'policies.kyverno.io/v1',
      kind: 'PolicyException',
      metadata: { name: 'exempt' },
      spec: {
        policyRefs: [{ name: 'moved', kind: 'MutatingPolicy' }],
        matchConditions: [{ name: 'name', expression: 'object.metadata.name == "exempt"' }],
      },
    };
    await kubectl.sendOk('apply', exception);
    await isGone('moved');
    expect(await messageOf('moved')).toContain(`${namespace}/exempt`);
    await isInForce('d');
    await becomesTrue(kubectl, 'exempt', configMap('exempt'), ({ metadata }) => !metadata.labels?.['by']);
    await kubectl.send('delete', exception);
    await becomesGenerated('moved', true);
  });

  it('are deleted when they are disabled, and with the policy', async () => {
    await applyPolicies(kubectl, [policy('moved', 'e', enabled(false))]);
    await becomesGenerated('moved', false);
    await isGone('moved');
    await isInForce('e');
    await applyPolicies(kubectl, [policy('moved', 'f')]);
    await becomesGenerated('moved', true);
    await kubectl.ok('delete', 'mutatingpolicy', 'moved');
    await isGone('moved');
  });

  it('leave objects of others alone', async () => {
    const { autogen: _, ...spec } = policy('x', 'x')['spec'] as JsonObject;
    const foreign = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicy',
      metadata: { name: 'mpol-taken' },
      spec: { ...spec, reinvocationPolicy: 'Never' },
    };
    await kubectl.sendOk('create', foreign);
    const { metadata } = await kubectl.get(kind, 'mpol-taken');
    await applyPolicies(kubectl, [policy('taken', 'g')]);
    await waitFor(async () => (await messageOf('taken')).includes('did not create'), {
      what: 'the status says why',
    });
    expect(await exists(bindingKind, 'mpol-taken-binding')).toBe(false);
    await kubectl.ok('delete', 'mutatingpolicy', 'taken');
    expect((await kubectl.get(kind, 'mpol-taken')).metadata).toEqual(metadata);
  });
});
