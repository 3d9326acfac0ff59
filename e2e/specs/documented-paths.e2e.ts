import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { documentedPolicy } from '../documented-policies.ts';
import type { KubernetesObject } from '../kubectl.ts';
import { configMap, deployment, pod } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { patienceFlag } from '../wait-for.ts';

const container = (name: string) => ({ name, image: `${name}:1` });
const quota = (name: string, level: string, hard: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name, labels: { quota: level } },
  spec: { hard },
});
const secret = (name: string, labels: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, labels },
});
/** Of any shape: the old form names kinds without their group. */
const freeFormDeployments = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'freeformdeployments.documented.example' },
  spec: {
    group: 'documented.example',
    scope: 'Namespaced',
    names: { plural: 'freeformdeployments', kind: 'Deployment', listKind: 'FreeFormDeploymentList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
const volumes = (...names: string[]) => names.map((name) => ({ name, emptyDir: {} }));

suite('documented paths, conditions and old forms', ({ settings, kubectl, before, after }) => {
  let server: ClusterServer;
  before(async () => {
    server = await startClusterServer(settings);
  });
  after(async () => server.uninstall());

  const created = async (document: JsonObject): Promise<KubernetesObject> =>
    JSON.parse((await kubectl.sendOk('create', document, '-o', 'json')).stdout);
  const within = <T>(id: string, act: () => Promise<T>) =>
    withPolicies(kubectl, [documentedPolicy(id.startsWith('a') ? 'seeds-002' : 'seeds-003', id).text], act);

  it('A1: a container is inserted in front; since it has no name, no Deployment of Kubernetes is made of it', async () => {
    await within('a1', async () => {
      const refused = await kubectl.send('create', deployment('my-nirmata-app'));
      expect(refused.code).toBe(1);
      // Validation comes after the webhooks: it saw the inserted one, and finds nothing else wrong with it.
      expect(refused.stderr).toContain(
        'Deployment "my-nirmata-app" is invalid: spec.template.spec.containers[0].name: Required value\n',
      );
      const { spec } = await created(deployment('shop'));
      expect(spec.template.spec.containers.map(({ name }: { name: string }) => name)).toEqual(['main']);
    });
  });

  it('A1: a Deployment that may lack names is what the text shows', async () => {
    await kubectl.sendOk('create', freeFormDeployments);
    const established = ['--for=condition=Established', `crd/${freeFormDeployments.metadata.name}`];
    await kubectl.ok('wait', ...established, patienceFlag);
    try {
      await within('a1', async () => {
        const freeForm = (name: string) => ({
          apiVersion: 'documented.example/v1',
          kind: 'Deployment',
          metadata: { name },
          spec: { template: { spec: { containers: [container('web')] } } },
        });
        const sidecar = {
          image: 'nirmata.io/sidecar:latest',
          imagePullPolicy: 'Always',
          ports: [{ containerPort: 443 }],
        };
        const containersOf = async (name: string) =>
          (await created(freeForm(name)))['spec'].template.spec.containers;
        expect(await containersOf('my-nirmata-app')).toEqual([sidecar, container('web')]);
        expect(await containersOf('shop')).toEqual([container('web')]);
      });
    } finally {
      await kubectl.sendOk('delete', freeFormDeployments);
    }
  });

  it('A2: a label is removed by the oldest form; where it is not, nothing is wrong', async () => {
    await within('a2', async () => {
      const labelled = await created(secret('a2-labelled', { purpose: 'x', kept: 'yes' }));
      expect(labelled.metadata.labels).toEqual({ kept: 'yes' });
      const other = await created(secret('a2-other', { kept: 'yes' }));
      expect(other.metadata.labels).toEqual({ kept: 'yes' });
    });
  });

  it('A3: a limit is set or added where the labels say so', async () => {
    await within('a3', async () => {
      const limit = async (document: JsonObject) => (await created(document))['spec'].hard['limits.memory'];
      expect(await limit(quota('a3-low', 'low', { 'limits.memory': '8Gi' }))).toBe('2Gi');
      expect(await limit(quota('a3-none', 'low', { pods: '3' }))).toBe('2Gi');
      expect(await limit(quota('a3-high', 'high', { 'limits.memory': '8Gi' }))).toBe('8Gi');
      // They would keep Pods out.
      await kubectl.ok('delete', 'resourcequota', '--all');
    });
  });

  it('A4: an address is added to every subset, and only once', async () => {
    // As written its name ends in a dash, which no object's name may.
    const text = documentedPolicy('seeds-002', 'a4').text.replace(
      'name: policy-endpoints-',
      'name: policy-endpoints',
    );
    await withPolicies(kubectl, [text], async () => {
      const addresses = ({ subsets }: KubernetesObject) =>
        subsets.map((subset: { addresses: { ip: string }[] }) => subset.addresses.map(({ ip }) => ip));
      const object = await created({
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'a4' },
        subsets: [
          { addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] },
          { addresses: [{ ip: '192.0.2.2' }, { ip: '192.0.2.3' }], ports: [{ port: 81 }] },
        ],
      });
      const added = [
        ['192.0.2.1', '192.168.10.172'],
        ['192.0.2.2', '192.0.2.3', '192.168.10.172'],
      ];
      expect(addresses(object)).toEqual(added);
      await kubectl.ok('annotate', 'endpoints', 'a4', 'again=yes');
      expect(addresses(await kubectl.get('endpoints', 'a4'))).toEqual(added);
    });
  });

  it('A5: a port is set where the name says so, by a policy of the first group', async () => {
    await within('a5', async () => {
      const { subsets } = await created({
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'a5' },
        subsets: [
          {
            addresses: [{ ip: '192.0.2.1' }],
            ports: [
              { name: 'secure-1', port: 443 },
              { name: 'http', port: 80 },
            ],
          },
        ],
      });
      expect(subsets[0].ports.map(({ port }: { port: number }) => port)).toEqual([6443, 80]);
    });
  });

  it('A6: a rule without a name, with a wildcard beside a selector', async () => {
    await within('a6', async () => {
      const pods = async (document: JsonObject) => (await created(document))['spec'].hard.pods;
      expect(await pods(quota('team-a', 'low', { services: '3' }))).toBe('10');
      expect(await pods(quota('other', 'low', { services: '3' }))).toBeUndefined();
      expect(await pods(quota('team-b', 'high', { services: '3' }))).toBeUndefined();
      await kubectl.ok('delete', 'resourcequota', '--all');
    });
  });

  it('B3: data is created', async () => {
    await within('b3', async () => {
      const { data } = await created({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'config-game' },
      });
      expect(Object.keys(data).length).toBeGreaterThan(0);
    });
  });

  it('B6: a toleration is appended, to a list or to none', async () => {
    const toleration = { key: 'networkzone', operator: 'Equal', value: 'dmz', effect: 'NoSchedule' };
    await within('b6', async () => {
      const tolerations = [{ key: 'x', operator: 'Exists' }];
      const withSome = await created(pod('b6-some', { spec: { containers: [container('a')], tolerations } }));
      // The API server has added some of its own before.
      expect(withSome['spec'].tolerations.at(0)).toEqual(tolerations[0]);
      expect(withSome['spec'].tolerations.at(-1)).toEqual(toleration);
      const withNone = await created(pod('b6-none'));
      expect(withNone['spec'].tolerations).toContainEqual(toleration);
    });
  });

  it('B7: a key with a slash', async () => {
    await within('b7', async () => {
      const object = await created(deployment('b7'));
      expect(object['spec'].template.metadata.annotations).toEqual({
        'config.linkerd.io/skip-outbound-ports': '8200',
      });
    });
  });

  it('B8: missing parents and lists are made, and -1 appends', async () => {
    await within('b8', async () => {
      const containers = [container('a')];
      const object = await created(pod('b8', { spec: { containers, automountServiceAccountToken: false } }));
      expect(object.metadata.annotations).toEqual({ k: 'v' });
      expect(object['spec'].hostAliases).toEqual([{ ip: '10.0.0.1' }]);
      expect(object['spec'].containers.map(({ name }: { name: string }) => name)).toEqual(['a', 'last']);
    });
  });

  it('B11: the whole value of a condition is a condition, and none of it is written', async () => {
    await within('b11', async () => {
      const spec = (runAsUser: number) => ({
        containers: [container('a')],
        securityContext: { runAsUser, fsGroup: 5 },
      });
      const held = await created(pod('b11-held', { spec: spec(1000) }));
      expect(held.metadata.labels).toEqual({ rootless: 'true' });
      expect(held['spec'].securityContext).toEqual({ runAsUser: 1000, fsGroup: 5 });
      const missed = await created(pod('b11-missed', { spec: spec(7) }));
      expect(missed.metadata.labels).toBeUndefined();
    });
  });

  it('B34: items are removed in a loop from the end', async () => {
    await within('b34', async () => {
      const object = await created(
        pod('b34', {
          spec: {
            containers: [container('a')],
            automountServiceAccountToken: false,
            volumes: volumes('tmp1', 'data', 'tmp2', 'tmp3', 'conf'),
          },
        }),
      );
      expect(object['spec'].volumes).toEqual(volumes('data', 'conf'));
    });
  });

  it('B34: a second loop sees what the first wrote', async () => {
    await within('b34-two-entries', async () => {
      const object = await created(configMap('b34-two', { z: '1' }));
      expect(object.metadata.annotations).toEqual({ 'saw-a': 'yes', 'saw-b': 'yes', 'saw-z': 'yes' });
    });
  });

  it('B34: one iteration that fails denies, and says where', async () => {
    await within('b34-failing-iteration', async () => {
      const answer = await kubectl.send('create', configMap('b34-failing', { k: 'v' }));
      expect(answer.code).toBe(1);
      expect(answer.stderr).toMatch(
        /rule fails: .*\(rule \/mutate\/foreach\/0\/patchesJson6902\/0, object \/data\//,
      );
    });
  });

  it.each(['b36-other-name', 'b36-other-namespace', 'b36-json-patch-name'])(
    '%s: who an object is cannot be changed: the rule fails, and the API server never sees it',
    async (id) => {
      await within(id, async () => {
        const answer = await kubectl.send('create', configMap('identity', {}, { to: 'elsewhere' }));
        expect(answer.code).toBe(1);
        expect(answer.stderr).toMatch(
          /denied the request: mutation failed: policy identity, rule identity: /,
        );
      });
    },
  );

  it('B36: the same name can be written', async () => {
    await within('b36-same-name', async () => {
      expect((await created(configMap('same-name')))['data']).toEqual({ k: 'v' });
    });
  });

  it.each(['b36-kind-refused', 'b36-api-version-refused', 'b37-refused'])(
    '%s: a policy that can never be right is refused',
    async (id) => {
      const answer = await kubectl.send('create', documentedPolicy('seeds-003', id).text);
      expect(answer.code).toBe(1);
      expect(answer.stderr).toContain('denied the request');
    },
  );
});
