import { expect, it } from 'vitest';
import { installCustomResources } from '../custom-resources.ts';
import { type InProcessServer, startInProcessServer } from '../in-process-server.ts';
import { kymera } from '../kymera.ts';
import { configMap, mergePolicy } from '../objects.ts';
import { applyPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

const timing = {
  lease: { retryMs: 300, renewDeadlineMs: 2_000, durationMs: 3_000 },
  certificateCheckMs: 200,
  pathTokens: { lifeMs: 3_600_000, minimumLifeMs: 0, distributionMs: 500, overlapMs: 1_500 },
};

suite('the token in webhook paths', ({ settings, kubectl, namespace, before, after }) => {
  let server: InProcessServer;
  let isStalled = false;
  const policy = mergePolicy(
    'exposing',
    'ConfigMap',
    {},
    {
      resources: { namespaces: [namespace], names: ['trigger-*'] },
      rule: {
        mutate: {
          targets: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'target', namespace }],
          patchStrategicMerge: { data: { seen: 'yes' } },
        },
      },
    },
  );

  before(async () => {
    await installCustomResources(kubectl);
    server = await startInProcessServer(settings, { timing }, ({ validate, ...others }) => ({
      ...others,
      // A server that does not keep its own deadline.
      validate: async (...review) => {
        if (isStalled) await new Promise(() => {});
        const answer = validate?.(...review);
        return answer instanceof Promise ? answer : '';
      },
    }));
    await applyPolicies(kubectl, [policy]);
  });
  after(async () => {
    await kubectl.send('delete', policy, '--ignore-not-found');
    await server.uninstall();
  });

  /** The status of an empty review: 400 if the path exists, 404 if not. */
  const post = async (path: string) => (await server.post(path)).status;
  const configured = async () => {
    const kinds = 'mutatingwebhookconfigurations,validatingwebhookconfigurations';
    const all = await kubectl.list(kinds, '-l', 'app.kubernetes.io/managed-by=kymera');
    const urls = all.flatMap(({ webhooks }) =>
      ((webhooks ?? []) as { clientConfig: { url: string } }[]).map(({ clientConfig }) => clientConfig.url),
    );
    return urls.map((url) => new URL(url).pathname);
  };
  const tokenOf = (path: string) => path.split('/')[1] ?? '';

  it('is in every path of the webhook configurations, and paths without it do not exist', async () => {
    const paths = await configured();
    expect(paths.length).toBeGreaterThanOrEqual(2);
    expect(new Set(paths.map(tokenOf))).toEqual(new Set(server.runtime.pathTokens?.()));
    for (const path of paths) {
      expect(await post(path), path).toBe(400);
      expect(await post(path.replace(/^\/[^/]+/, '')), path).toBe(404);
      expect(await post(path.replace(/^\/[^/]/, '/z')), path).toBe(404);
    }
  });

  it('is checked by the doctor', async () => {
    const { stdout, code } = await kymera('doctor', '--kubeconfig', settings.kubeconfig);
    expect(code, stdout).toBe(0);
    expect(stdout).toContain('the server of kymera-policy-validation answers');
    for (const token of server.runtime.pathTokens?.() ?? []) expect(stdout).not.toContain(token);
  });

  it('stops working after the API server has printed it, while reviews go on', async () => {
    isStalled = true;
    const { code, stderr } = await kubectl.send('create', configMap('trigger-stalled'));
    isStalled = false;
    expect(code).not.toBe(0);
    const printed = /https:\/\/[^/]+\/([a-z0-9]+)\/validate\/fail\?timeout=/.exec(stderr)?.[1] ?? '';
    expect(printed, stderr).not.toBe('');
    await waitFor(async () => (await post(`/${printed}/validate/fail`)) === 404, {
      what: 'the printed token to stop working',
    });
    const paths = await configured();
    expect(paths.map(tokenOf)).not.toContain(printed);
    for (const path of paths) expect(await post(path), path).toBe(400);
    await kubectl.sendOk('create', configMap('trigger-later'));
    const shown = [
      ...server.logged,
      await server.server.metrics.registry.metrics(),
      await kubectl.ok('get', 'events', '-A', '-o', 'json'),
    ];
    for (const text of shown) {
      expect(text).not.toContain(printed);
      for (const token of server.runtime.pathTokens?.() ?? []) expect(text).not.toContain(token);
    }
  });
});
