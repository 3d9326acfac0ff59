import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type ApiProxy, inParallel, openApiProxy } from '../api-proxy.ts';
import { type Background, startInBackground } from '../background.ts';
import { auditLogName } from '../control-plane/program-arguments.ts';
import { accountUser } from '../installation.ts';
import { configMap, mergePolicy } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { waitFor } from '../wait-for.ts';

const targets = Number(process.env['KYMERA_BENCH_TARGETS'] ?? 2_000);

suite('bench of the background', ({ settings, kubectl, namespace, before, after }) => {
  let background: Background;
  let api: ApiProxy;
  before(async () => {
    background = await startInBackground(settings);
    api = await openApiProxy(settings);
  });
  after(async () => {
    api.close();
    await background.uninstall();
  });

  it(`one policy update changes ${targets} targets`, async (context) => {
    if (settings.controlPlane === undefined)
      return context.skip('calls are counted in the audit log of our own control plane');
    const auditLog = join(settings.controlPlane, auditLogName);
    const names = Array.from({ length: targets }, (_, index) => `target-${index}`);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await inParallel(names, 32, async (name) => {
      await api.send('POST', path, configMap(name, { some: 'data' }, { bench: 'target' }));
    });
    const policy = mergePolicy(
      'bench',
      'Namespace',
      {},
      {
        resources: { names: [namespace] },
        rule: {
          mutate: {
            mutateExistingOnPolicyUpdate: true,
            targets: [
              {
                apiVersion: 'v1',
                kind: 'ConfigMap',
                namespace,
                selector: { matchLabels: { bench: 'target' } },
              },
            ],
            patchStrategicMerge: { metadata: { labels: { done: '{{ request.object.metadata.name }}' } } },
          },
        },
      },
    );
    const callsBefore = callsOfBackground(auditLog).length;
    const startedAt = performance.now();
    await withPolicies(kubectl, [policy], async () => {
      await waitFor(
        async () => {
          const { body } = await api.send(
            'GET',
            `${path}?labelSelector=bench=target,!done&resourceVersion=0`,
          );
          return body.items.length === 0;
        },
        { what: 'all targets to be changed', seconds: 300, everyMs: 50 },
      );
      const seconds = (performance.now() - startedAt) / 1000;
      await background.settled();
      const calls = callsOfBackground(auditLog).slice(callsBefore);
      const counts = new Map<string, number>();
      for (const call of calls) counts.set(call, (counts.get(call) ?? 0) + 1);
      console.info(
        `${targets} targets changed by one policy update: ${seconds.toFixed(1)} s, ${calls.length} calls of the API server`,
      );
      for (const [call, count] of [...counts].sort(([, left], [, right]) => right - left))
        console.info(`  ${String(count).padStart(6)} ${call}`);
      expect(counts.get('list configmaps')).toBe(1);
      expect(counts.get('get configmaps') ?? 0).toBeLessThanOrEqual(5);
      expect(counts.get('update configmaps')).toBe(
        targets + (counts.get('create configmaps') === undefined ? 1 : 0),
      );
    });
  }, 600_000);
});

/** `update configmaps`, in the order they were made; what it does anyway (its Lease, watches, events) left out. */
function callsOfBackground(auditLog: string): readonly string[] {
  const user = accountUser('background');
  return readFileSync(auditLog, 'utf8')
    .split('\n')
    .filter((line) => line.includes(user))
    .map(
      (line) =>
        JSON.parse(line) as {
          verb: string;
          user: { username: string };
          objectRef?: { resource?: string; subresource?: string };
        },
    )
    .filter(({ user: by, objectRef }) => by.username === user && objectRef?.resource !== undefined)
    .map(
      ({ verb, objectRef }) =>
        `${verb} ${objectRef?.resource}${objectRef?.subresource === undefined ? '' : `/${objectRef.subresource}`}`,
    )
    .filter((call) => !call.startsWith('watch ') && !call.includes('leases') && !call.includes('events'));
}
