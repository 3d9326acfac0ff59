import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '../../src/json/value.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { installCustomResources } from '../custom-resources.ts';
import { kymera } from '../kymera.ts';
import { configMap, labelPolicy } from '../objects.ts';
import { applyPolicies, becomesTrue } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

const name = 'clusterpolicies.kyverno.io';
/** As a Kyverno has it that knows fewer fields. */
const definition = parse(`
  apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: { name: ${name}, labels: { app.kubernetes.io/part-of: kyverno } }
  spec:
    group: kyverno.io
    scope: Cluster
    names: { kind: ClusterPolicy, plural: clusterpolicies, singular: clusterpolicy, listKind: ClusterPolicyList }
    versions:
    - name: v1
      served: true
      storage: true
      subresources: { status: {} }
      schema:
        openAPIV3Schema:
          type: object
          properties:
            status: { type: object, x-kubernetes-preserve-unknown-fields: true }
            spec:
              type: object
              properties:
                background: { type: boolean }
                rules:
                  type: array
                  items:
                    type: object
                    properties:
                      name: { type: string }
                      match: { type: object, x-kubernetes-preserve-unknown-fields: true }
                      mutate:
                        type: object
                        properties:
                          patchStrategicMerge: { x-kubernetes-preserve-unknown-fields: true }`);
const webhooks = ['Mutating', 'Validating'].map((kind) =>
  parse(`
    apiVersion: admissionregistration.k8s.io/v1
    kind: ${kind}WebhookConfiguration
    metadata:
      name: kyverno-resource-${kind.toLowerCase()}-webhook-cfg
      labels: { webhook.kyverno.io/managed-by: kyverno }
    webhooks: []`),
);

suite('beside Kyverno', ({ settings, kubectl, namespace, before, after }) => {
  const here = { resources: { namespaces: [namespace] } };
  const labelled = (policy: string, engine: string): JsonObject => {
    const document = labelPolicy(policy, 'ConfigMap', { [policy]: 'yes' }, here);
    return { ...document, metadata: { name: policy, labels: { engine } } };
  };
  const theirs = labelled('theirs', 'kyverno');
  const chosen = labelled('chosen', 'kymera');
  const handedOver = { ...labelled('handed-over', 'kyverno'), apiVersion: 'kymera.io/v1' };
  const cluster = ['--kubeconfig', settings.kubeconfig];
  let server: ClusterServer | undefined;
  let untouched: unknown;

  /** What must be the same in the end. */
  const state = async () => {
    const crd = await kubectl.get('crd', name);
    const configurations = await Promise.all(
      webhooks.map(({ kind, metadata }) => kubectl.get(kind, metadata.name)),
    );
    return [
      [crd['spec'], crd.metadata.labels, crd.metadata.annotations],
      configurations.map(({ metadata }) => metadata.resourceVersion),
    ];
  };
  const labelsNow = async () => {
    const { stdout } = await kubectl.sendOk('create', configMap('probe'), '--dry-run=server', '-o', 'json');
    return Object.keys(JSON.parse(stdout).metadata.labels ?? {});
  };

  before(async () => {
    await installCustomResources(kubectl);
    await kubectl.sendOk('replace', definition);
    await kubectl.sendOk('create', webhooks);
    // The API server takes a new schema a moment later.
    await waitFor(
      async () => {
        const patch = { ...theirs, spec: { ...(theirs['spec'] as JsonObject), applyRules: 'One' } };
        const { stdout } = await kubectl.send(
          'create',
          patch,
          '--dry-run=server',
          '--validate=false',
          '-o',
          'json',
        );
        return stdout !== '' && !stdout.includes('applyRules');
      },
      { what: 'the foreign definition in force' },
    );
    untouched = await state();
    await kubectl.sendOk('create', [theirs, chosen]);
  });
  after(async () => {
    await server?.uninstall();
    await kubectl.ok('delete', name, 'theirs', 'chosen', '--ignore-not-found');
    await kubectl.ok('delete', 'kymeraclusterpolicies.kymera.io', '--all');
    await kubectl.send('delete', webhooks, '--ignore-not-found');
    await kubectl.ok('label', 'crd', name, 'app.kubernetes.io/part-of-');
    await installCustomResources(kubectl);
  });

  it('without a selector, none of its policies applies, and a warning says so', async () => {
    server = await startClusterServer(settings);
    await applyPolicies(kubectl, [handedOver]);
    await becomesTrue(kubectl, 'the policy of kymera.io in force', configMap('probe'), ({ metadata }) =>
      Object.hasOwn(metadata.labels ?? {}, 'handed-over'),
    );
    expect(await labelsNow()).toEqual(['handed-over']);
    expect(server.output(0)).toContain('Kyverno runs in this cluster');
    for (const policy of ['theirs', 'chosen']) {
      expect((await kubectl.get(name, policy))['status']).toBeUndefined();
    }
  });

  it('its policies are not reviewed either', async () => {
    const unknown = labelPolicy('unknown', 'ConfigMap', { a: '{{ nothing.defines.this }}' }, here);
    const answer = await kubectl.send('create', unknown, '--dry-run=server');
    expect(answer, answer.stderr).toMatchObject({ code: 0 });
  });

  it('the doctor lists the fields that its CRD drops', async () => {
    const { code, stdout } = await kymera('doctor', ...cluster);
    expect(stdout).toContain('note Kyverno is installed, too');
    const line = stdout.split('\n').find((each) => each.startsWith(`note ${name} is not from Kymera`)) ?? '';
    expect(line).toContain('spec.rules[].mutate.replacements');
    expect(line).toContain('v2beta1');
    expect(line).not.toContain('spec.background');
    expect(code, stdout).toBe(0);
  });

  it('a selector selects some of its policies', async () => {
    await server?.uninstall();
    server = await startClusterServer(settings, { args: ['--policy-selector', 'engine=kymera'] });
    await becomesTrue(kubectl, 'the chosen policy in force', configMap('probe'), ({ metadata }) =>
      Object.hasOwn(metadata.labels ?? {}, 'chosen'),
    );
    expect((await labelsNow()).toSorted()).toEqual(['chosen', 'handed-over']);
    expect((await kubectl.get(name, 'theirs'))['status']).toBeUndefined();
  });

  it('its policies apply when it is removed, and no longer when it is installed again', async () => {
    await server?.uninstall();
    server = await startClusterServer(settings);
    const isTheirs = (wanted: boolean) =>
      becomesTrue(
        kubectl,
        `policies of kyverno.io ${wanted ? 'in force' : 'left alone'}`,
        configMap('probe'),
        ({ metadata }) => Object.hasOwn(metadata.labels ?? {}, 'theirs') === wanted,
      );
    await isTheirs(false);
    await kubectl.send('delete', webhooks[0]);
    await isTheirs(true);
    await kubectl.sendOk('create', webhooks[0]);
    await isTheirs(false);
    untouched = [(untouched as unknown[])[0], ((await state()) as unknown[])[1]];
  });

  it('none of its objects was changed, nor is when Kymera is removed', async () => {
    expect(await state()).toEqual(untouched);
    await server?.stop();
    expect(await state()).toEqual(untouched);
    await server?.uninstall();
    expect((await kymera('cleanup', '--all', ...cluster)).code).toBe(0);
    expect(await state()).toEqual(untouched);
    expect((await kubectl.get(name, 'theirs')).metadata.labels).toEqual({ engine: 'kyverno' });
  });
});
