import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json/value.ts';
import { type Background, startInBackground } from '../background.ts';
import type { ClusterServer } from '../cluster-server.ts';
import type { Answer, KubernetesObject } from '../kubectl.ts';
import { labelPolicy, mergePolicy, type PolicyParts, pod } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { servedText } from '../served-text.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

/**
 * Connections to Pods and Services. Reviews come before the API server looks for the kubelet: what it then says of a container that the Pod
 * does not have shows the options as the policies left them, whether there is a kubelet or not.
 */
suite('connections', ({ settings, kubectl, namespace, before, after }) => {
  let background: Background;
  let server: ClusterServer;
  before(async () => {
    background = await startInBackground(settings);
    server = background.server;
    // No kubelet is needed; where there is one, the Pods wait for an image.
    await kubectl.sendOk('create', [pod('web'), pod('other')]);
    await kubectl.ok('create', 'service', 'clusterip', 'shop', '--tcp=80:80');
  });
  after(async () => background.uninstall());

  const onConnect = (name: string, kind: string, patch: JsonObject, parts: PolicyParts = {}) =>
    mergePolicy(name, kind, patch, {
      ...parts,
      resources: { namespaces: [namespace], operations: ['CONNECT'], ...parts.resources },
    });
  const path = (resource: string) => `/api/v1/namespaces/${namespace}/${resource}`;
  const exec = (name: string, ...command: string[]) =>
    kubectl.run(['exec', name, '--container=main', '--', ...command]);
  const get = (resource: string) => kubectl.run(['get', '--raw', path(resource)]);
  const post = (resource: string) => kubectl.run(['create', '--raw', path(resource), '-f', '-']);
  /** The API server hears of a webhook a moment after it was written. */
  const answers = (ask: () => Promise<Answer>, text: string) =>
    waitFor(
      async () => {
        const answer = await ask();
        if (answer.stderr.includes(text)) return answer;
        throw new Error(answer.stderr);
      },
      { what: text },
    );
  const reviewsOf = (kind: string) =>
    server
      .output(0)
      .split('\n')
      .filter((line) => line.includes(`"kind":"${kind}"`) && line.includes('"operation":"CONNECT"'))
      .map((line) => JSON.parse(line) as { readonly name: string; readonly applied: string });
  const askedFor = async (): Promise<readonly (readonly [string, readonly string[]])[]> => {
    const configurations = await kubectl.list('mutatingwebhookconfigurations');
    const webhooks = configurations.flatMap((each) => each['webhooks']) as readonly KubernetesObject[];
    return webhooks
      .flatMap((webhook) => webhook['rules'] as readonly Record<string, readonly string[]>[])
      .flatMap(({ resources = [], operations = [] }) =>
        resources.map((resource) => [resource, operations] as const),
      );
  };

  it('are asked for by subresource, where a policy lists CONNECT', async () => {
    const policies = [
      onConnect('options', 'Pod/exec', { stdin: false }),
      onConnect('streams', 'Pod/attach', { stdin: false }),
      onConnect('forwards', 'Pod/portforward', { ports: [80] }),
      onConnect('paths', 'Service/proxy', { path: '/' }),
      labelPolicy('pods', 'Pod', { seen: 'yes' }, { resources: { namespaces: [namespace] } }),
    ];
    await withPolicies(kubectl, policies, async () => {
      const asked = await askedFor();
      for (const resource of ['pods/exec', 'pods/attach', 'pods/portforward', 'services/proxy']) {
        expect(asked).toContainEqual([resource, ['CONNECT']]);
      }
      expect(asked).toContainEqual(['pods', ['CREATE', 'UPDATE']]);
    });
  });

  it('have options, which are mutated; variables read them and the Pod that is meant', async () => {
    const told = "{{ request.object.kind }} {{ request.name }} {{ join('_', request.object.command) }}";
    // Options have no labels; the API server passes over them.
    const patch = { container: told, metadata: { labels: { seen: 'yes' } } };
    await withPolicies(kubectl, [onConnect('retold', 'Pod/exec', patch)], async () => {
      const message = 'container PodExecOptions web ls_-l is not valid for pod web';
      await answers(() => exec('web', 'ls', '-l'), message);
      // A review is written down after it was answered.
      await expect
        .poll(() => reviewsOf('Pod/exec').at(-1))
        .toMatchObject({ name: 'web', namespace, allowed: true, applied: 'retold/retold' });
      const [port = 0] = server.ports();
      const metrics = await servedText(server.host, port, '/metrics');
      expect(metrics).toMatch(/kyverno_policy_results_total\{[^}]*resource_request_operation="connect"/);
    });
  });

  it('by attach, port-forward and proxy return warnings', async () => {
    const warns = { spec: { emitWarning: true } };
    const policies = [
      onConnect('streams', 'Pod/attach', { container: 'gone' }, warns),
      onConnect('forwards', 'Pod/portforward', { ports: [80] }, warns),
      onConnect('paths', 'Service/proxy', { path: 'elsewhere' }, warns),
      onConnect('pod-paths', 'Pod/proxy', { path: 'elsewhere' }, warns),
    ];
    await withPolicies(kubectl, policies, async () => {
      const attached = await answers(() => post('pods/web/attach?container=main'), 'streams.streams');
      expect(attached.stderr).toContain('container gone is not valid for pod web');
      await answers(() => post('pods/web/portforward?ports=8080'), 'forwards.forwards');
      await answers(() => get('services/shop/proxy/some/path'), 'paths.paths');
      await answers(() => get('pods/web/proxy/'), 'pod-paths.pod-paths');
    });
  });

  it('are matched by the namespace and name of what is connected to', async () => {
    const policies = [
      onConnect('named', 'Pod/exec', { container: 'named' }, { resources: { names: ['web'] } }),
      onConnect('elsewhere', 'Pod/exec', { container: 'elsewhere' }, { resources: { namespaces: ['no-*'] } }),
    ];
    await withPolicies(kubectl, policies, async () => {
      await answers(() => exec('web', 'ls'), 'container named is not valid for pod web');
      const other = await exec('other', 'ls');
      expect(other.stderr).not.toContain('is not valid for pod');
    });
  });

  it('are refused by a rule that fails', async () => {
    const broken = { container: '{{ request.object.missing }}' };
    await withPolicies(kubectl, [onConnect('broken', 'Pod/exec', broken)], async () => {
      const answer = await answers(() => exec('web', 'ls'), 'denied the request');
      expect(answer.stderr).toMatch(/policy broken, rule broken: .*missing/);
    });
  });

  it('are ignored by a policy that does not list CONNECT', async () => {
    const policies = [
      mergePolicy(
        'unlisted',
        'Pod/exec',
        { container: 'unlisted' },
        { resources: { namespaces: [namespace] } },
      ),
      onConnect('streams', 'Pod/attach', { container: 'gone' }),
    ];
    await withPolicies(kubectl, policies, async () => {
      await answers(() => post('pods/web/attach?container=main'), 'container gone is not valid');
      const before = reviewsOf('Pod/exec').length;
      expect((await exec('web', 'ls')).stderr).not.toContain('unlisted');
      expect(reviewsOf('Pod/exec')).toHaveLength(before);
      // Asked because of another policy, it still leaves connections alone.
      await withPolicies(kubectl, [onConnect('listed', 'Pod/exec', { stdin: true })], async () => {
        await waitFor(
          async () => {
            expect((await exec('web', 'ls')).stderr).not.toContain('unlisted');
            return reviewsOf('Pod/exec').length > before;
          },
          { what: 'a review of exec' },
        );
        expect(reviewsOf('Pod/exec').at(-1)).toMatchObject({ applied: 'listed/listed' });
      });
    });
  });

  it('trigger mutateExisting rules, also of a Policy in that namespace', async () => {
    const policy: JsonObject = {
      apiVersion: 'kyverno.io/v1',
      kind: 'Policy',
      metadata: { name: 'entered', namespace },
      spec: {
        rules: [
          {
            name: 'entered',
            match: { any: [{ resources: { kinds: ['Pod/exec'], operations: ['CONNECT'] } }] },
            mutate: {
              targets: [{ apiVersion: 'v1', kind: 'Pod', name: '{{ request.name }}', namespace }],
              patchStrategicMerge: {
                metadata: { annotations: { entered: '{{ request.object.command[0] }}' } },
              },
            },
          },
        ],
      },
    };
    await withPolicies(kubectl, [policy], async () => {
      await waitFor(
        async () => {
          await exec('web', 'ls');
          return (await kubectl.get('pod', 'web')).metadata.annotations?.['entered'] === 'ls';
        },
        { what: 'the Pod to be annotated', everyMs: 500 },
      );
    });
  });
});
