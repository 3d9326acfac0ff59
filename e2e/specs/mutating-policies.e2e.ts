import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { installCustomResources, removeCustomResources } from '../custom-resources.ts';
import type { KubernetesObject } from '../kubectl.ts';
import { configMap, deployment, labelPolicy, pod } from '../objects.ts';
import { applyPolicies, becomesTrue, withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

const group = 'widgets.example.com';
/** A custom kind with a list that is merged by key. */
const widgetsWith = (fields: JsonObject): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  parts: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['id'],
                    items: {
                      type: 'object',
                      required: ['id'],
                      properties: {
                        id: { type: 'string' },
                        size: { type: 'integer' },
                        note: { type: 'string' },
                        ...fields,
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
});

interface PolicyParts {
  readonly resources?: readonly string[];
  readonly group?: string;
  readonly spec?: JsonObject;
  readonly constraints?: JsonObject;
  readonly namespace?: string;
}

/** A MutatingPolicy whose expression gives an ApplyConfiguration. */
function celPolicy(name: string, expression: string, parts: PolicyParts = {}): JsonObject {
  const { resources = ['configmaps'], group: apiGroup = '', spec = {}, constraints = {}, namespace } = parts;
  return {
    apiVersion: 'policies.kyverno.io/v1',
    kind: namespace === undefined ? 'MutatingPolicy' : 'NamespacedMutatingPolicy',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    spec: {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [apiGroup],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: [...resources],
          },
        ],
        ...constraints,
      },
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
      ...spec,
    },
  };
}

const labels = (text: string) => `Object{metadata: Object.metadata{labels: ${text}}}`;

suite('mutating policies', ({ settings, kubectl, namespace, before, after }) => {
  let server: ClusterServer;
  /** Other suites run in the same cluster. */
  const here = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
  };
  before(async () => {
    server = await startClusterServer(settings, { args: ['--exception-namespace', namespace] });
  });
  after(async () => server.uninstall());

  const entryOf = async (policy: string) => {
    const configuration = await kubectl.get('mutatingwebhookconfiguration', 'kymera-resource-mutation');
    return (configuration['webhooks'] as JsonObject[]).find(({ name }) =>
      String(name).startsWith(`${policy}.mpol.`),
    );
  };
  const created = async (document: JsonObject): Promise<KubernetesObject> =>
    JSON.parse((await kubectl.sendOk('create', document, '-o', 'json')).stdout);

  it('mutate objects when they are created and when they are updated', async () => {
    const policy = celPolicy('stamp', labels('{"size": string(object.?data.orValue({}).size())}'), {
      constraints: here,
    });
    await withPolicies(kubectl, [policy], async () => {
      expect((await created(configMap('counted', { a: '1' }))).metadata.labels).toEqual({ size: '1' });
      await kubectl.sendOk('apply', configMap('counted', { a: '1', b: '2' }));
      expect((await kubectl.get('configmap', 'counted')).metadata.labels).toEqual({ size: '2' });
    });
  });

  it('are called only where the conditions hold that the API server can evaluate', async () => {
    const conditions = [
      { name: 'marked', expression: 'object.metadata.?annotations[?"mark"].orValue("") == "yes"' },
      { name: 'by-namespace', expression: 'namespaceObject.metadata.name != "other"' },
    ];
    const policy = celPolicy('conditional', labels('{"marked": "yes"}'), {
      constraints: here,
      spec: { matchConditions: conditions, webhookConfiguration: { timeoutSeconds: 7 } },
    });
    const marked = (name: string) => ({
      ...configMap(name),
      metadata: { name, annotations: { mark: 'yes' } },
    });
    await withPolicies(kubectl, [policy], async () => {
      expect(await entryOf('conditional')).toMatchObject({
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        timeoutSeconds: 7,
        // For webhooks the API server has no namespaceObject.
        matchConditions: [conditions[0]],
        namespaceSelector: here.namespaceSelector,
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['configmaps'],
            scope: '*',
          },
        ],
      });
      expect((await created(marked('with-mark'))).metadata.labels).toEqual({ marked: 'yes' });
      expect((await created(configMap('without-mark'))).metadata.labels).toBeUndefined();
      // The API server did not call the server for the second one.
      expect(server.output(0)).toContain('with-mark');
      expect(server.output(0)).not.toContain('without-mark');
    });
  });

  it('for Pods apply to controllers too, with conditions for each kind, and report both in the status', async () => {
    const policy = celPolicy('seconds', 'Object{spec: Object.spec{terminationGracePeriodSeconds: 7}}', {
      resources: ['pods'],
      constraints: here,
      spec: { matchConditions: [{ name: 'host', expression: '!object.spec.?hostNetwork.orValue(false)' }] },
    });
    await withPolicies(kubectl, [policy], async () => {
      const { matchConditions, rules } = (await entryOf('seconds')) as {
        matchConditions: { name: string; expression: string }[];
        rules: { resources: string[] }[];
      };
      expect(matchConditions.map(({ name }) => name)).toEqual([
        'autogen-host',
        'autogen-defaults-host',
        'autogen-cronjobs-host',
      ]);
      expect(matchConditions[1]?.expression).toContain('object.spec.template.spec.?hostNetwork');
      expect(rules.flatMap(({ resources }) => resources)).toEqual([
        'pods',
        'daemonsets',
        'deployments',
        'replicasets',
        'statefulsets',
        'jobs',
        'cronjobs',
      ]);
      const made = await created(deployment('web'));
      expect(made['spec'].template.spec.terminationGracePeriodSeconds).toBe(7);
      const spared = await created(deployment('host', { hostNetwork: true }));
      expect(spared['spec'].template.spec.terminationGracePeriodSeconds).toBe(30);
      expect((await created(pod('single')))['spec'].terminationGracePeriodSeconds).toBe(7);
      const { status } = await kubectl.get('mutatingpolicies', 'seconds');
      expect(status).toMatchObject({
        conditionStatus: {
          ready: true,
          message: 'Ready',
          conditions: [{ type: 'WebhookConfigured', status: 'True', reason: 'Succeeded' }],
        },
        autogen: {
          configs: {
            cronjobs: {
              targets: [{ group: 'batch', version: 'v1', resource: 'cronjobs', kind: 'CronJob' }],
            },
            defaults: {
              spec: {
                mutations: [
                  {
                    applyConfiguration: {
                      expression:
                        'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{terminationGracePeriodSeconds: 7}}}}',
                    },
                  },
                ],
              },
            },
          },
        },
        generated: false,
      });
    });
  });

  it('merge objects of custom kinds by their schema, which may change', async () => {
    const policy = celPolicy(
      'parts',
      'Object{spec: Object.spec{parts: [Object.spec.parts{id: "wheel", size: 3}]}}',
      { group, resources: ['widgets'], constraints: here },
    );
    const widget = (name: string): JsonObject => ({
      apiVersion: `${group}/v1`,
      kind: 'Widget',
      metadata: { name },
      spec: {
        parts: [
          { id: 'door', size: 1 },
          { id: 'wheel', note: 'round' },
        ],
      },
    });
    const merged = [
      { id: 'door', size: 1 },
      { id: 'wheel', note: 'round', size: 3 },
    ];
    try {
      await withPolicies(kubectl, [policy], async () => {
        const { status } = await kubectl.get('mutatingpolicies', 'parts');
        expect(status.conditionStatus.message).toContain('the API server does not serve');
        await kubectl.sendOk('apply', widgetsWith({}));
        await kubectl.ok('wait', '--for=condition=Established', `crd/widgets.${group}`);
        // The API server publishes the schema some time after it serves the kind.
        await waitFor(
          async () => {
            const answer = await kubectl.send('create', widget('probe'), '--dry-run=server', '-o', 'json');
            return answer.code === 0 && JSON.parse(answer.stdout).spec.parts[1].size === 3;
          },
          { what: 'the schema of the custom kind' },
        );
        expect((await created(widget('first')))['spec'].parts).toEqual(merged);
      });
      const painted = celPolicy(
        'colours',
        'Object{spec: Object.spec{parts: [Object.spec.parts{id: "wheel", colour: "red"}]}}',
        { group, resources: ['widgets'], constraints: here },
      );
      await withPolicies(kubectl, [painted], async () => {
        const refused = await kubectl.send('create', widget('probe'), '--dry-run=server');
        expect(refused.stderr).toContain('failed to evaluate policy');
        await kubectl.sendOk('apply', widgetsWith({ colour: { type: 'string' } }));
        await waitFor(
          async () => {
            const answer = await kubectl.send('create', widget('probe'), '--dry-run=server', '-o', 'json');
            return answer.code === 0 && JSON.parse(answer.stdout).spec.parts[1].colour === 'red';
          },
          { what: 'the new schema' },
        );
      });
    } finally {
      await removeCustomResources(kubectl, [`widgets.${group}`]);
    }
  });

  it('of a namespace apply only there', async () => {
    const other = `${namespace}-other`;
    await kubectl.ok('create', 'namespace', other);
    const policy = celPolicy('local', labels('{"local": "yes"}'), { namespace });
    await withPolicies(kubectl, [policy], async () => {
      expect((await created(configMap('inside'))).metadata.labels).toEqual({ local: 'yes' });
      const outside = await kubectl.run(['create', `--namespace=${other}`, '-f', '-', '-o', 'json'], {
        input: JSON.stringify(configMap('outside')),
      });
      expect(JSON.parse(outside.stdout).metadata.labels).toBeUndefined();
    });
    await kubectl.ok('delete', 'namespace', other, '--wait=false');
  });

  it('run after all ClusterPolicies, by name, each on the result of the one before', async () => {
    const append = (name: string, text: string) =>
      celPolicy(name, labels(`{"order": object.metadata.?labels[?"order"].orValue("") + "${text}"}`), {
        constraints: here,
      });
    const old = labelPolicy(
      'z-old',
      'ConfigMap',
      // Only once: the API server calls the webhook again when later ones changed the object.
      { '+(order)': 'old' },
      { resources: { namespaces: [namespace] } },
    );
    await withPolicies(kubectl, [append('b', '-b'), append('a', '-a'), old], async () => {
      expect((await created(configMap('ordered'))).metadata.labels).toEqual({ order: 'old-a-b' });
    });
  });

  it('are lifted by exceptions of their group', async () => {
    const policy = celPolicy('lifted', labels('{"seen": "yes"}'), { constraints: here });
    const exception: JsonObject = {
      apiVersion: 'policies.kyverno.io/v1',
      kind: 'PolicyException',
      metadata: { name: 'spare', namespace },
      spec: {
        policyRefs: [{ name: 'lifted', kind: 'MutatingPolicy' }],
        matchConditions: [{ name: 'special', expression: 'object.metadata.name.startsWith("special")' }],
      },
    };
    await withPolicies(kubectl, [policy], async () => {
      await kubectl.sendOk('apply', exception);
      await becomesTrue(kubectl, 'the exception', configMap('special-1'), ({ metadata }) => !metadata.labels);
      expect((await created(configMap('ordinary'))).metadata.labels).toEqual({ seen: 'yes' });
      await kubectl.sendOk('delete', exception);
      await becomesTrue(kubectl, 'its end', configMap('special-1'), ({ metadata }) => !!metadata.labels);
    });
  });

  it.each<[string, JsonObject, RegExp]>([
    [
      'an expression that does not type-check',
      celPolicy('untyped', 'Object{metadata: Object.metadata{\n  labels: {"a": nothing}}}'),
      /\/spec\/mutations\/0\/applyConfiguration\/expression: .*nothing.*\(at line 2, column 17 of the expression\)/s,
    ],
    [
      'no resource rule',
      celPolicy('unmatched', labels('{"a": "b"}'), { spec: { matchConstraints: {} } }),
      /a matchConstraints with at least one resource rule is required/,
    ],
  ])('are refused: %s', async (_, policy, reason) => {
    const answer = await kubectl.send('apply', policy);
    expect(answer.stderr).toMatch(reason);
    expect(answer.code).toBe(1);
  });

  it('refuse requests when they fail and failurePolicy is Fail, and leave them alone with Ignore', async () => {
    const failing = (name: string, failurePolicy: string) =>
      celPolicy(name, labels('{"value": object.data.missing}'), {
        constraints: here,
        spec: { failurePolicy },
      });
    await withPolicies(kubectl, [failing('ignoring', 'Ignore')], async () => {
      expect((await created(configMap('left-alone', { a: '1' }))).metadata.labels).toBeUndefined();
    });
    await withPolicies(kubectl, [failing('failing', 'Fail')], async () => {
      const answer = await kubectl.send('create', configMap('refused', { a: '1' }));
      expect(answer.stderr).toContain('failed to evaluate policy');
    });
  });

  it('with wildcards spare kinds that the cluster depends on', async () => {
    const policy = celPolicy('all', labels('{"all": "yes"}'), {
      group: '*',
      resources: ['*'],
      constraints: here,
    });
    await withPolicies(kubectl, [policy], async () => {
      await becomesTrue(kubectl, 'the wildcard', configMap('any'), ({ metadata }) => !!metadata.labels);
      const lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'heartbeat' },
        spec: {},
      };
      expect((await created(lease)).metadata.labels).toBeUndefined();
      expect(server.output(0)).not.toContain('heartbeat');
    });
  });

  it('apply again after their kind was removed and installed again', async () => {
    const policy = celPolicy('back', labels('{"back": "yes"}'), { constraints: here });
    const probe = configMap('probe');
    await applyPolicies(kubectl, [policy]);
    await removeCustomResources(kubectl, ['mutatingpolicies.policies.kyverno.io']);
    await becomesTrue(kubectl, 'the removal', probe, ({ metadata }) => metadata.labels === undefined);
    await installCustomResources(kubectl);
    await withPolicies(kubectl, [policy], async () => {
      expect((await created(configMap('again'))).metadata.labels).toEqual({ back: 'yes' });
    });
  });

  it('of a cluster whose CRD serves only an older version are in force, with a status', async () => {
    const crd = 'mutatingpolicies.policies.kyverno.io';
    const serve = (isServed: boolean) =>
      kubectl.ok(
        ...['patch', 'crd', crd, '--type=json', '-p'],
        JSON.stringify([{ op: 'replace', path: '/spec/versions/0/served', value: isServed }]),
      );
    const older = {
      ...celPolicy('older', 'Object{metadata: Object.metadata{labels: {"older": "yes"}}}'),
      apiVersion: 'policies.kyverno.io/v1beta1',
    };
    const isLabelled = (expected: boolean) =>
      becomesTrue(
        kubectl,
        `older is ${expected}`,
        configMap('older'),
        ({ metadata }) => (metadata.labels?.['older'] === 'yes') === expected,
      );
    try {
      await serve(false);
      await waitFor(async () => (await kubectl.send('create', older)).code === 0, {
        what: 'the policy is accepted',
      });
      const isReady = 'jsonpath={.status.conditionStatus.ready}=true';
      await waitFor(
        async () =>
          (
            await kubectl.run([
              'wait',
              `--for=${isReady}`,
              `mutatingpolicies.v1beta1.policies.kyverno.io/older`,
            ])
          ).code === 0,
        { what: 'the policy is ready' },
      );
      await isLabelled(true);
    } finally {
      await serve(true);
      await kubectl.run(['delete', 'mutatingpolicies.v1beta1.policies.kyverno.io', 'older']);
    }
    await isLabelled(false);
  });
});
