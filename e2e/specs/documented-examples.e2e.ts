import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { startClusterServer } from '../cluster-server.ts';
import { documentedPolicy } from '../documented-policies.ts';
import type { KubernetesObject } from '../kubectl.ts';
import { configMap, deployment, pod } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';

interface Example {
  readonly id: string;
  readonly title: string;
  readonly policies: readonly string[];
  /** What is created, and a part of what comes of it. */
  readonly results: readonly (readonly [JsonObject, JsonObject | ((object: KubernetesObject) => void)])[];
}

const container = (name: string, image: string, rest: JsonObject = {}) => ({ name, image, ...rest });
const withContainers = (name: string, ...containers: JsonObject[]) => pod(name, { spec: { containers } });
const noToken = { automountServiceAccountToken: false };
const endpoints = (name: string, ...ports: JsonObject[]): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name },
  subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports }],
});
const secret = (name: string, labels?: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, ...(labels ? { labels } : {}) },
});
const ingress = (name: string): JsonObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name },
  spec: {
    defaultBackend: { service: { name: 'web', port: { number: 80 } } },
    tls: [
      { hosts: ['foo.old.com', 'bar.old.com'], secretName: 'one' },
      { hosts: ['kept.example.com', 'baz.old.com'], secretName: 'two' },
    ],
  },
});
const renamedHosts = {
  spec: { tls: [{ hosts: ['foo.new.com', 'bar.new.com'] }, { hosts: ['kept.example.com', 'baz.new.com'] }] },
};

const examples: readonly Example[] = [
  {
    id: 'B1',
    title: 'the pull policy follows the tag, through a Deployment too',
    policies: ['b1'],
    results: [
      [
        withContainers(
          'b1',
          container('a', 'a:latest'),
          container('b', 'b:1.0', { imagePullPolicy: 'Always' }),
        ),
        { spec: { containers: [{ imagePullPolicy: 'IfNotPresent' }, { imagePullPolicy: 'Always' }] } },
      ],
      [
        deployment('b1'),
        { spec: { template: { spec: { containers: [{ imagePullPolicy: 'IfNotPresent' }] } } } },
      ],
    ],
  },
  {
    id: 'B2',
    title: 'entries are added to the ConfigMap of that name only',
    policies: ['b2'],
    results: [
      [
        configMap('config-game', { newKey1: 'old', k: 'v' }),
        { data: { k: 'v', newKey1: 'newValue1', 'ship.properties': 'type=starship\nowner=utany.corp\n' } },
      ],
      [configMap('b2-other', { k: 'v' }), (object) => expect(object['data']).toEqual({ k: 'v' })],
    ],
  },
  {
    id: 'B4',
    title: 'a label is removed from a Secret; one without it passes',
    policies: ['b4'],
    results: [
      [
        secret('b4-labelled', { purpose: 'test', kept: 'yes' }),
        (object) => expect(object.metadata.labels).toEqual({ kept: 'yes' }),
      ],
      [secret('b4-plain'), (object) => expect(object.metadata.labels).toBeUndefined()],
    ],
  },
  {
    id: 'B5',
    title: 'a container is inserted, then given its command',
    policies: ['b5'],
    results: [
      [
        pod('b5', { spec: { ...noToken, containers: [container('main', 'a:1')] } }),
        (object) => {
          expect(object['spec'].containers).toHaveLength(2);
          expect(object['spec'].containers[1]).toMatchObject({
            ...container('busybox', 'busybox:latest'),
            command: ['ls'],
          });
        },
      ],
    ],
  },
  {
    id: 'B9',
    title: 'a container is merged, and the Pod labelled with its own name',
    policies: ['b9'],
    results: [
      [
        withContainers('b9', container('nginx', 'nginx:1')),
        {
          metadata: { labels: { name: 'b9' } },
          spec: {
            containers: [container('nginx', 'nginx:latest', { imagePullPolicy: 'Never', command: ['ls'] })],
          },
        },
      ],
    ],
  },
  {
    id: 'B10',
    title: 'the port is set where the name begins with secure',
    policies: ['b10'],
    results: [
      [
        endpoints('b10', { name: 'secure-a', port: 443 }, { name: 'http', port: 80 }),
        {
          subsets: [
            {
              ports: [
                { name: 'secure-a', port: 6443 },
                { name: 'http', port: 80 },
              ],
            },
          ],
        },
      ],
    ],
  },
  {
    id: 'B12',
    title: 'a label is added where there is none',
    policies: ['b12'],
    results: [
      [configMap('b12-none'), { metadata: { labels: { 'lfx-mentorship': 'kyverno' } } }],
      [
        configMap('b12-own', {}, { 'lfx-mentorship': 'own' }),
        { metadata: { labels: { 'lfx-mentorship': 'own' } } },
      ],
    ],
  },
  {
    id: 'B13',
    title: 'fields of the security context are added where they are missing',
    policies: ['b13'],
    results: [
      [
        pod('b13', { spec: { containers: [container('main', 'a:1')], securityContext: { runAsUser: 7 } } }),
        { spec: { securityContext: { runAsNonRoot: true, runAsUser: 7, runAsGroup: 3000, fsGroup: 2000 } } },
      ],
    ],
  },
  {
    id: 'B14',
    title: 'an image of the registry brings the pull secret',
    policies: ['b14'],
    results: [
      [
        withContainers('b14', container('web', 'corp.reg.com/nginx')),
        { spec: { imagePullSecrets: [{ name: 'my-secret' }] } },
      ],
      [pod('b14-other'), (object) => expect(object['spec'].imagePullSecrets).toBeUndefined()],
    ],
  },
  {
    id: 'B15',
    title: 'a Pod with an emptyDir volume is marked safe to evict',
    policies: ['b15'],
    results: [
      [
        pod('b15', {
          spec: { containers: [container('main', 'a:1')], volumes: [{ name: 'v', emptyDir: {} }] },
        }),
        { metadata: { annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true' } } },
      ],
      [pod('b15-none'), (object) => expect(object.metadata.annotations).toBeUndefined()],
    ],
  },
  {
    id: 'B28',
    title: 'each container gets a security context',
    policies: ['b28'],
    results: [
      [
        withContainers('b28', container('a', 'a:1'), container('b', 'b:1')),
        {
          spec: {
            containers: [
              { securityContext: { runAsNonRoot: true } },
              { securityContext: { runAsNonRoot: true } },
            ],
          },
        },
      ],
    ],
  },
  {
    id: 'B29',
    title: 'images are taken from the trusted registry',
    policies: ['b29'],
    results: [
      [
        withContainers('b29', container('web-server', 'nginx:1.25'), container('b', 'quay.io/org/app')),
        { spec: { containers: [{ image: 'registry.io/nginx:1.25' }, { image: 'registry.io/app:latest' }] } },
      ],
    ],
  },
  {
    id: 'B30',
    title: 'the field is added where it is missing, container by container',
    policies: ['b30'],
    results: [
      [
        withContainers(
          'b30',
          container('a', 'a:1', { securityContext: { allowPrivilegeEscalation: true } }),
          container('b', 'b:1'),
        ),
        {
          spec: {
            containers: [
              { securityContext: { allowPrivilegeEscalation: true } },
              { securityContext: { allowPrivilegeEscalation: false } },
            ],
          },
        },
      ],
    ],
  },
  {
    id: 'B31',
    title: 'requests are completed',
    policies: ['b31-create'],
    results: [
      [
        withContainers(
          'b31',
          container('a', 'a:1', { resources: { requests: { cpu: '2' } } }),
          container('b', 'b:1'),
        ),
        {
          spec: {
            containers: [
              { resources: { requests: { cpu: '2', memory: '100Mi' } } },
              { resources: { requests: { cpu: '100m', memory: '100Mi' } } },
            ],
          },
        },
      ],
    ],
  },
  {
    id: 'B32',
    title: 'hosts are renamed in nested loops',
    policies: ['b32'],
    results: [[ingress('b32'), renamedHosts]],
  },
  { id: 'B33', title: 'and in the older form', policies: ['b33'], results: [[ingress('b33'), renamedHosts]] },
];

suite('documented examples', ({ settings, kubectl, before, after }) => {
  let server: Awaited<ReturnType<typeof startClusterServer>>;
  before(async () => {
    server = await startClusterServer(settings);
  });
  after(async () => server.uninstall());

  const policyTexts = (ids: readonly string[]) => ids.map((id) => documentedPolicy('seeds-003', id).text);

  for (const { id, title, policies, results } of examples) {
    it(`${id}: ${title}`, async () => {
      await withPolicies(kubectl, policyTexts(policies), async () => {
        for (const [document, expected] of results) {
          const { stdout } = await kubectl.sendOk('create', document, '-o', 'json');
          const object = JSON.parse(stdout) as KubernetesObject;
          if (typeof expected === 'function') expected(object);
          else expect(object).toMatchObject(expected);
        }
      });
    });
  }

  it('B16: a policy that emits warnings is seen by kubectl', async () => {
    await withPolicies(kubectl, policyTexts(['b16']), async () => {
      const answer = await kubectl.sendOk('create', configMap('b16'));
      expect(answer.stderr).toMatch(/^Warning: policy warn\./m);
    });
  });

  it('B25: one rule cascades into the next', async () => {
    await withPolicies(kubectl, policyTexts(['b25']), async () => {
      await kubectl.ok('run', 'cassandra', '--image=cassandra:latest');
      expect((await kubectl.get('pod', 'cassandra')).metadata.labels).toEqual({
        run: 'cassandra',
        type: 'database',
        'backup-needed': 'yes',
      });
      expect(await kubectl.ok('describe', 'pod', 'cassandra')).toMatch(
        /^Labels: +backup-needed=yes\n +run=cassandra\n +type=database\n/m,
      );
      await kubectl.ok('run', 'no-backup', '--image=cassandra:latest', '--labels', 'backup-needed=no');
      expect((await kubectl.get('pod', 'no-backup')).metadata.labels).toEqual({
        type: 'database',
        'backup-needed': 'no',
      });
      await kubectl.ok('run', 'other', '--image=nginx');
      expect((await kubectl.get('pod', 'other')).metadata.labels).toEqual({ run: 'other' });
    });
  });

  it('B35: a server-side apply in a dry run returns the mutated object and stores nothing', async () => {
    await withPolicies(kubectl, policyTexts(['b12']), async () => {
      const args = ['--server-side', '--dry-run=server', '-o', 'json'];
      const updateRequests = async () =>
        (await kubectl.list('updaterequests.kyverno.io', '--all-namespaces')).filter(
          ({ spec }) => spec.resource.name === 'b35',
        );
      const { stdout } = await kubectl.sendOk('apply', configMap('b35', { a: '1' }), ...args);
      expect(JSON.parse(stdout).metadata.labels).toEqual({ 'lfx-mentorship': 'kyverno' });
      expect((await kubectl.run(['get', 'configmap', 'b35'])).stderr).toContain('not found');
      expect(await updateRequests()).toEqual([]);
    });
  });
});
