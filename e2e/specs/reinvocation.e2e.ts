import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { documentedPolicy } from '../documented-policies.ts';
import { labelPolicy, pod } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';

suite('reinvocation', ({ settings, kubectl, before, after }) => {
  let server: ClusterServer;
  before(async () => {
    server = await startClusterServer(settings);
  });
  after(async () => server.uninstall());

  const insertContainer = documentedPolicy('seeds-003', 'b5').text;
  const label = labelPolicy('label-pods', 'Pod', { seen: 'yes' }, { spec: { failurePolicy: 'Ignore' } });

  it('does not insert a second container when another webhook changes the Pod after it', async () => {
    await withPolicies(kubectl, [insertContainer, label], async () => {
      const document = pod('once', {
        spec: { automountServiceAccountToken: false, containers: [{ name: 'main', image: 'a:1' }] },
      });
      const { stdout } = await kubectl.sendOk('create', document, '-o', 'json');
      const made = JSON.parse(stdout);
      expect(made.metadata.labels).toEqual({ seen: 'yes' });
      expect(made.spec.containers.map((container: { name: string }) => container.name)).toEqual([
        'main',
        'busybox',
      ]);
    });
  });

  it('removes the token again that the API server adds after the policy removed it', async () => {
    await withPolicies(kubectl, [removeToken], async () => {
      const document = pod('no-token', {
        spec: {
          volumes: [{ name: 'work', emptyDir: {} }],
          containers: [
            { name: 'main', image: 'a:1', volumeMounts: [{ name: 'work', mountPath: '/work' }] },
            { name: 'other', image: 'b:1' },
          ],
        },
      });
      const { stdout } = await kubectl.sendOk('create', document, '-o', 'json');
      const { spec } = JSON.parse(stdout);
      const names = (items: readonly { name: string }[] = []) => items.map(({ name }) => name);
      expect(names(spec.volumes)).toEqual(['work']);
      expect(names(spec.containers[0].volumeMounts)).toEqual(['work']);
      expect(names(spec.containers[1].volumeMounts)).toEqual([]);
    });
    await withPolicies(kubectl, [calledOnce(removeToken)], async () => {
      const { stdout } = await kubectl.sendOk('create', pod('token'), '-o', 'json');
      // Without reinvocation the API server has the last word, which shows that the first part tests something.
      expect(JSON.parse(stdout).spec.volumes).toHaveLength(1);
    });
  });

  it('is on for idempotent policies, and off for others, which have their own entries', async () => {
    await withPolicies(kubectl, [insertContainer, label], async () => {
      const configurations = await kubectl.list('mutatingwebhookconfigurations');
      const policies = configurations
        .flatMap(({ webhooks }) => webhooks as { reinvocationPolicy: string; failurePolicy: string }[])
        .map(({ reinvocationPolicy, failurePolicy }) => `${failurePolicy} ${reinvocationPolicy}`);
      expect(policies.toSorted()).toEqual(['Fail Never', 'Ignore IfNeeded']);
    });
  });
});

const operation = (path: string) => ({ patchesJson6902: `- {op: remove, path: "${path}"}` });

/** Removes the volume of the service account token and its mounts, as the policy of the same name in Kyverno's library. */
const removeToken: JsonObject = {
  apiVersion: 'kyverno.io/v1',
  kind: 'ClusterPolicy',
  metadata: {
    name: 'remove-serviceaccount-token',
    annotations: { 'pod-policies.kyverno.io/autogen-controllers': 'none' },
  },
  spec: {
    background: false,
    rules: [
      {
        name: 'remove-volume-and-mounts',
        match: { any: [{ resources: { kinds: ['Pod'] } }] },
        context: [
          {
            name: 'token',
            variable: {
              jmesPath:
                "request.object.spec.volumes[?projected].name[?starts_with(@, 'kube-api-access-')] | [0] || ''",
            },
          },
        ],
        preconditions: { all: [{ key: '{{ token }}', operator: 'Equals', value: '?*' }] },
        mutate: {
          foreach: [
            {
              list: 'request.object.spec.volumes[]',
              order: 'Descending',
              preconditions: {
                all: [{ key: '{{ element.name }}', operator: 'Equals', value: '{{ token }}' }],
              },
              ...operation('/spec/volumes/{{elementIndex}}'),
            },
            {
              list: 'request.object.spec.containers[]',
              foreach: [
                {
                  list: 'element.volumeMounts',
                  order: 'Descending',
                  preconditions: {
                    all: [{ key: '{{ element.name }}', operator: 'Equals', value: '{{ token }}' }],
                  },
                  ...operation('/spec/containers/{{elementIndex0}}/volumeMounts/{{elementIndex1}}'),
                },
              ],
            },
          ],
        },
      },
    ],
  },
};

function calledOnce(policy: JsonObject): JsonObject {
  const annotations = {
    'pod-policies.kyverno.io/autogen-controllers': 'none',
    'kymera.io/reinvocation': 'never',
  };
  return { ...policy, metadata: { name: 'once', annotations } };
}
