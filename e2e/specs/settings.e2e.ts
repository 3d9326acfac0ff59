import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type ClusterServer, startClusterServer } from '../cluster-server.ts';
import { configMap, labelPolicy, pod } from '../objects.ts';
import { applyPolicies, becomesTrue, withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

suite('settings', ({ settings, kubectl, namespace, before, after }) => {
  const resources = { namespaces: [namespace] };
  const policies = [
    labelPolicy('seen', 'ConfigMap', { seen: 'yes' }, { resources }),
    labelPolicy(
      'registry',
      'Pod',
      { registry: "{{ images.containers.main.registry || 'none' }}" },
      { resources },
    ),
    labelPolicy(
      'large',
      'ServiceAccount',
      { size: '{{ to_string(length(it)) }}' },
      { resources, rule: { context: [{ name: 'it', variable: { value: 'x'.repeat(5_000) } }] } },
    ),
  ];
  let server: ClusterServer;
  before(async () => {
    server = await startClusterServer(settings, { args: ['--exclude-groups', 'spared'] });
    await applyPolicies(kubectl, policies);
  });
  after(async () => {
    await kubectl.sendOk('delete', policies);
    await kubectl.run(['delete', 'configmap', 'kymera', `--namespace=${server.namespace}`]);
    await server.uninstall();
  });

  /** What users write while the server runs. */
  const set = (data: Readonly<Record<string, string>>) =>
    kubectl.with(`--namespace=${server.namespace}`).sendOk('apply', configMap('kymera', data));
  const becomes = (what: string, document: JsonObject, labels: Record<string, string> | undefined) =>
    becomesTrue(kubectl, what, document, ({ metadata }) => {
      const shown = metadata.labels === undefined ? undefined : { ...metadata.labels };
      return JSON.stringify(shown) === JSON.stringify(labels);
    });

  it('exclude objects and users, with immediate effect', async () => {
    await becomes('the policy', configMap('x'), { seen: 'yes' });
    await set({ resourceFilters: `[ConfigMap,${namespace},let-*]` });
    await becomes('the filter', configMap('let-through'), undefined);
    await becomes('no other object', configMap('x'), { seen: 'yes' });
    const spared = ['--as=system:admin', '--as-group=system:masters', '--as-group=spared'];
    await becomesTrue(
      kubectl.with(...spared),
      'what the flag says',
      configMap('x'),
      ({ metadata }) => metadata.labels === undefined,
    );
    await set({ excludeGroups: 'system:masters' });
    await becomes('the exclusion', configMap('x'), undefined);
    await set({ excludeGroups: 'system:masters,!system:authenticated' });
    await becomes('the inclusion', configMap('x'), { seen: 'yes' });
  });

  it('set the registry of images without one, or leave them unchanged', async () => {
    const short = pod('short', { spec: { containers: [{ name: 'main', image: 'app:1' }] } });
    await becomes('the usual registry', short, { registry: 'docker.io' });
    await set({ defaultRegistry: 'mirror.example' });
    await becomes('another registry', short, { registry: 'mirror.example' });
    await set({ enableDefaultRegistryMutation: 'false' });
    await becomes('no registry', short, { registry: 'none' });
  });

  it('limit the size of context entries', async () => {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'large' } };
    await becomes('the usual limit', account, { size: '5000' });
    await set({ maxContextSize: '4Ki' });
    await waitFor(
      async () => {
        const { stderr } = await kubectl.send('create', account, '--dry-run=server');
        return /context size limit exceeded: 500\d bytes exceeds limit of 4096 bytes/.test(stderr);
      },
      { what: 'the limit' },
    );
    await set({});
    await becomes('the usual limit', account, { size: '5000' });
  });

  it('change the webhook configurations', async () => {
    await set({
      webhookAnnotations: '{"example.com/a": "b"}',
      webhookLabels: '{"example.com/c": "d"}',
      webhooks: '{"namespaceSelector": {"matchLabels": {"mutate": "yes"}}}',
    });
    await waitFor(
      async () => {
        const [configuration] = await kubectl.list('mutatingwebhookconfigurations');
        const { annotations, labels } = configuration?.metadata ?? {};
        const [webhook] = configuration?.['webhooks'] ?? [];
        return (
          annotations?.['example.com/a'] === 'b' &&
          labels?.['example.com/c'] === 'd' &&
          webhook.namespaceSelector.matchLabels.mutate === 'yes'
        );
      },
      { what: 'webhooks as configured' },
    );
    await becomes('a namespace without the label', configMap('x'), undefined);
    await set({});
    await becomes('all namespaces', configMap('x'), { seen: 'yes' });
    const [configuration] = await kubectl.list('mutatingwebhookconfigurations');
    const { annotations, labels } = configuration?.metadata ?? {};
    expect([annotations?.['example.com/a'], labels?.['example.com/c']]).toEqual([undefined, undefined]);
  });

  it.each([
    ['matchConditions', '[{"name": "x", "expression": "object.no-such-operator("}]'],
    ['webhooks', '{"namespaceSelector": {"matchExpressions": [{"key": "!", "operator": "Near"}]}}'],
    ['webhookLabels', '{"not a key": "x"}'],
  ])('of %s that the API server refuses harm no policy, and are reported', async (key, value) => {
    await set({ [key]: value });
    await waitFor(
      () =>
        server
          .output(0)
          .split('\n')
          .some(
            (line) => line.includes('an invalid setting is ignored') && line.includes(`"problem":"${key}"`),
          ),
      { what: 'the server to say so' },
    );
    const later = labelPolicy('later', 'ConfigMap', { later: 'yes' }, { resources });
    await withPolicies(kubectl, [later], () =>
      becomes('both policies', configMap('x'), { later: 'yes', seen: 'yes' }),
    );
    await set({});
    await becomes('the policy', configMap('x'), { seen: 'yes' });
  });
});
