import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import type { JsonObject } from '../../src/json/value.ts';
import { type ApiProxy, inParallel, openApiProxy } from '../api-proxy.ts';
import { type Background, becomes, startInBackground } from '../background.ts';
import { type BackgroundProcess, startBackgroundProcess } from '../background-process.ts';
import { hasRight } from '../installation.ts';
import { configMap, mergePolicy } from '../objects.ts';
import { withPolicies } from '../policies-in-force.ts';
import { suite } from '../suite.ts';
import { patienceFlag, waitFor } from '../wait-for.ts';

/** `KYMERA_E2E_STORM=5000` is the long form, which `npm run e2e:storm` runs. */
const stormSize = Number(process.env['KYMERA_E2E_STORM'] ?? 500);

suite('the background', ({ settings, kubectl, namespace, before, after }) => {
  let background: Background;
  let second: BackgroundProcess;
  let api: ApiProxy;
  before(async () => {
    background = await startInBackground(settings, { args: ['--ttl', '3'] });
    second = await startBackgroundProcess(settings, { args: ['--ttl', '3'] });
    api = await openApiProxy(settings);
  });
  after(async () => {
    api.close();
    await second.stop();
    await background.uninstall();
  });

  const resources = (...names: string[]) => ({ namespaces: [namespace], names });
  /** A policy that changes `targets` when a ConfigMap of these names is written. */
  const policy = (
    name: string,
    names: readonly string[],
    target: JsonObject,
    patch: JsonObject,
    rule: JsonObject = {},
    more: JsonObject = {},
  ) =>
    mergePolicy(
      name,
      'ConfigMap',
      {},
      {
        resources: { ...resources(...names), ...more },
        rule: {
          ...rule,
          mutate: { targets: [target], patchStrategicMerge: patch, ...(rule['mutate'] as JsonObject) },
        },
      },
    );
  const labels = (values: JsonObject): JsonObject => ({ metadata: { labels: values } });
  const target = (kind: string, name: string): JsonObject => ({ apiVersion: 'v1', kind, name, namespace });
  const itself: JsonObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: '{{ request.object.metadata.name }}',
    namespace,
  };
  const path = (kind: string, name = '') =>
    `/api/v1/namespaces/${namespace}/${kind}${name === '' ? '' : `/${name}`}`;
  const labelled = async (prefix: string, label: string) => {
    const { body } = await api.send('GET', `${path('configmaps')}?labelSelector=${label}`);
    return (body.items as { metadata: { name: string } }[]).filter(({ metadata }) =>
      metadata.name.startsWith(prefix),
    );
  };
  const requestsOf = async (name: string) => {
    const all = await background.updateRequests();
    return all.filter(({ spec }) => spec.policy === name);
  };

  it('does nothing for a dry run', async () => {
    await kubectl.sendOk('create', configMap('dry-target'));
    await withPolicies(
      kubectl,
      [policy('dry', ['dry'], target('ConfigMap', 'dry-target'), labels({ dry: 'no' }))],
      async () => {
        await kubectl.sendOk('create', configMap('dry'), '--dry-run=server');
        await sleep(1_000);
        expect(await requestsOf('dry')).toEqual([]);
        expect((await kubectl.get('configmap', 'dry-target')).metadata.labels).toBeUndefined();
      },
    );
  });

  it('does nothing for a request that is refused after it was a trigger', async () => {
    await kubectl.sendOk('create', [
      configMap('refused-target'),
      {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'no-more' },
        spec: { hard: { 'count/configmaps': '1' } },
      },
    ]);
    await kubectl.ok('wait', '--for=jsonpath={.status.used}', 'resourcequota/no-more', patienceFlag);
    const rule = policy(
      'refused',
      ['refused'],
      target('ConfigMap', 'refused-target'),
      labels({ refused: 'no' }),
    );
    await withPolicies(kubectl, [rule], async () => {
      const answer = await kubectl.send('create', configMap('refused'));
      expect(answer.stderr).toMatch(/exceeded quota/);
      const [request] = await waitFor(
        async () => {
          const found = await requestsOf('refused');
          return found.some(({ status }) => status?.state === 'Skip') ? found : undefined;
        },
        { what: 'the request to end' },
      );
      expect(request?.['status'].message).toBe(`ConfigMap ${namespace}/refused does not exist`);
      expect((await kubectl.get('configmap', 'refused-target')).metadata.labels).toBeUndefined();
    });
    await kubectl.ok('delete', 'resourcequota', 'no-more');
  });

  it('ends a request whose target is not there, and goes on with others', async () => {
    await kubectl.sendOk('create', configMap('there'));
    const policies = [
      policy('gone', ['gone'], target('Secret', 'no-such-secret'), labels({ a: 'b' })),
      policy('stays', ['gone'], target('ConfigMap', 'there'), labels({ stays: 'yes' })),
    ];
    await withPolicies(kubectl, policies, async () => {
      await kubectl.sendOk('create', configMap('gone'));
      await becomes(kubectl, 'configmap', 'there', ({ metadata }) => metadata.labels?.['stays'] === 'yes');
      const [request] = await waitFor(
        async () => {
          const found = await requestsOf('gone');
          return found.some(({ status }) => status?.state === 'Skip') ? found : undefined;
        },
        { what: 'the request to end' },
      );
      expect(request?.['status'].message).toBe(`Secret ${namespace}/no-such-secret does not exist`);
    });
  });

  it('lacks permissions: the policy is refused, with the ClusterRole to add', async () => {
    const limits = {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'limits' },
      spec: { limits: [] },
    };
    await kubectl.sendOk('create', limits);
    const rule = policy(
      'allowed-later',
      ['allowed'],
      target('LimitRange', 'limits'),
      labels({ allowed: 'yes' }),
    );
    const refused = await kubectl.send('create', rule);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /auth check fails, additional privileges are required for .*kymera-background.*patch limitranges/,
    );
    const role = parseDocument(
      refused.stderr.slice(refused.stderr.indexOf('apiVersion: rbac')),
    ).toJS() as JsonObject;
    expect(role).toMatchObject({
      kind: 'ClusterRole',
      rules: [{ apiGroups: [''], resources: ['limitranges'] }],
    });
    await kubectl.sendOk('apply', role);
    await hasRight(background.own, 'background', 'patch', 'limitranges');
    await withPolicies(kubectl, [rule], async () => {
      await kubectl.sendOk('create', configMap('allowed', { a: '1' }));
      await becomes(
        kubectl,
        'limitrange',
        'limits',
        ({ metadata }) => metadata.labels?.['allowed'] === 'yes',
      );
      await kubectl.ok('label', 'limitrange', 'limits', 'allowed-');
      await kubectl.ok('delete', 'clusterrole', String((role['metadata'] as JsonObject)['name']));
      await waitFor(
        async () => {
          const answer = await background.own.run([
            'auth',
            'can-i',
            'patch',
            'limitranges',
            '--all-namespaces',
            '--as=system:serviceaccount:kymera:kymera-background',
          ]);
          return answer.stdout.startsWith('no');
        },
        { what: 'the right to be gone' },
      );
      await kubectl.ok('patch', 'configmap', 'allowed', '-p', '{"data":{"a":"2"}}');
      const [request] = await waitFor(
        async () => {
          const found = await requestsOf('allowed-later');
          return found.some(({ status }) => status?.state === 'Failed')
            ? found.filter(({ status }) => status?.state === 'Failed')
            : undefined;
        },
        { what: 'the request to fail' },
      );
      expect(request?.['status'].message).toMatch(
        /limitranges .*forbidden: User "system:serviceaccount:kymera:kymera-background" cannot (get|patch) resource "limitranges"/s,
      );
      expect(request?.['status'].message).toMatch(/kind: ClusterRole/);
      await kubectl.ok(
        'wait',
        '--for=condition=Ready=false',
        'clusterpolicies.kyverno.io/allowed-later',
        patienceFlag,
      );
    });
  });

  it('loses nothing of what fifty others write to the same target', async () => {
    const writers = 50;
    await kubectl.sendOk('create', configMap('contended'));
    await withPolicies(
      kubectl,
      [
        policy('contend', ['contend'], target('ConfigMap', 'contended'), {
          metadata: { labels: { 'by-{{ request.object.data.n }}': 'yes' } },
        }),
      ],
      async () => {
        await kubectl.sendOk('create', configMap('contend', { n: 'start' }));
        // A trigger is read again when its turn comes: it must not have changed by then.
        await waitFor(
          async () => (await kubectl.get('configmap', 'contended')).metadata.labels?.['by-start'] === 'yes',
          { what: 'the first change' },
        );
        const numbers = Array.from({ length: writers }, (_, index) => index);
        await inParallel(numbers, writers, async (number) => {
          if (number % 5 === 0)
            await api.send(
              'PATCH',
              path('configmaps', 'contend'),
              { data: { n: String(number) } },
              'application/merge-patch+json',
            );
          await waitFor(
            async () => {
              const { body } = await api.send('GET', path('configmaps', 'contended'));
              const data = { ...body.data, [`key-${number}`]: 'written' };
              return (
                (await api.send('PUT', path('configmaps', 'contended'), { ...body, data })).status === 200
              );
            },
            { what: `writer ${number}`, everyMs: 10 },
          );
        });
        await background.settled(30);
        const { data, metadata } = await kubectl.get('configmap', 'contended');
        expect(Object.keys(data)).toHaveLength(writers);
        const last = (await kubectl.get('configmap', 'contend'))['data'].n;
        expect(metadata.labels).toMatchObject({ 'by-start': 'yes', [`by-${last}`]: 'yes' });
      },
    );
  });

  it('stops two rules that trigger each other, and names them', async () => {
    await kubectl.sendOk('create', configMap('arena', { color: 'none' }));
    const paint = (color: string) =>
      policy(
        `paint-${color}`,
        ['arena'],
        target('ConfigMap', 'arena'),
        { data: { color } },
        { skipBackgroundRequests: false },
      );
    await withPolicies(kubectl, [paint('red'), paint('blue')], async () => {
      await kubectl.ok('patch', 'configmap', 'arena', '-p', '{"data":{"start":"now"}}');
      const stopped = await waitFor(
        async () => {
          const all = await background.updateRequests();
          return all.find(({ status }) => /^stopped: /.test(status?.message ?? ''));
        },
        { what: 'a rule to be stopped' },
      );
      expect(stopped['status'].message).toMatch(
        /^stopped: rule paint-(red|blue)\/paint-\1 and paint-(red|blue)\/paint-\2 trigger each other without end, 5 rounds so far$/,
      );
      await background.settled();
      const before = (await kubectl.get('configmap', 'arena')).metadata.resourceVersion;
      await sleep(2_000);
      expect((await kubectl.get('configmap', 'arena')).metadata.resourceVersion).toBe(before);
    });
  });

  it('loses no request when its leader is killed in the middle of 500', async () => {
    const names = Array.from({ length: 500 }, (_, index) => `kill-${index}`);
    await withPolicies(kubectl, [policy('kill', ['kill-*'], itself, labels({ killed: 'no' }))], async () => {
      await inParallel(names, 32, async (name) => {
        await api.send('POST', path('configmaps'), configMap(name));
      });
      await waitFor(async () => (await labelled('kill-', 'killed')).length >= 20, {
        what: 'the first to be done',
        everyMs: 20,
      });
      const leads = (each: BackgroundProcess) => /became the leader of the background/.test(each.output());
      const leader = leads(background.worker) ? background.worker : second;
      leader.kill();
      const done = (await labelled('kill-', 'killed')).length;
      const startedAt = Date.now();
      await waitFor(async () => (await labelled('kill-', 'killed')).length === names.length, {
        what: 'all to be done by the next leader',
      });
      console.info(
        `${done} of 500 were done when the leader was killed; the rest ${Math.round((Date.now() - startedAt) / 1000)} s later`,
      );
      expect(done).toBeLessThan(500);
      await background.settled(60);
    });
  });

  it(`leaves a bounded number of UpdateRequests in a storm of ${stormSize} triggers, and converges`, async () => {
    const threshold = Math.min(1_000, stormSize / 5);
    await background.own.sendOk('apply', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kymera' },
      data: { updateRequestThreshold: String(threshold) },
    });
    // All of them count, also the many of the spec before.
    await waitFor(async () => (await requestsOf('kill')).length === 0, {
      what: 'former requests to be cleared up',
    });
    await sleep(1_000);
    const names = Array.from({ length: stormSize }, (_, index) => `storm-${index}`);
    await withPolicies(
      kubectl,
      [policy('storm', ['storm-*'], itself, labels({ storm: 'over' }))],
      async () => {
        let most = 0;
        let isOver = false;
        const counting = (async () => {
          while (!isOver) {
            const { body } = await api.send(
              'GET',
              '/apis/kyverno.io/v2/namespaces/kymera/updaterequests?resourceVersion=0',
            );
            most = Math.max(most, body.items.length);
            await sleep(50);
          }
        })();
        const startedAt = Date.now();
        await inParallel(names, 32, async (name) => {
          const { status } = await api.send('POST', path('configmaps'), configMap(name));
          expect(status).toBe(201);
        });
        await waitFor(async () => (await labelled('storm-', 'storm')).length === stormSize, {
          what: 'the storm to be over',
          seconds: 600,
          everyMs: 500,
        });
        isOver = true;
        await counting;
        console.info(
          `a storm of ${stormSize} triggers: at most ${most} UpdateRequests, over after ${Math.round((Date.now() - startedAt) / 1000)} s`,
        );
        // One server takes triggers: it never writes more than may exist.
        expect(most).toBeLessThanOrEqual(threshold);
        await waitFor(async () => (await requestsOf('storm')).length === 0, {
          what: 'the requests to be cleared up',
        });
      },
    );
    await background.own.ok('delete', 'configmap', 'kymera');
  }, 900_000);

  it('does not treat a restart, a new leader or a status update as a change of the policy', async () => {
    await kubectl.sendOk('create', [configMap('once-trigger'), configMap('once')]);
    const rule = policy(
      'once',
      ['once-trigger'],
      target('ConfigMap', 'once'),
      labels({ round: "{{ random('[a-z]{8}') }}" }),
      {
        mutate: { mutateExistingOnPolicyUpdate: true },
      },
    );
    await withPolicies(kubectl, [rule], async () => {
      const { metadata } = await becomes(
        kubectl,
        'configmap',
        'once',
        (object) => object.metadata.labels?.['round'] !== undefined,
      );
      await second.stop();
      second = await startBackgroundProcess(settings, { args: ['--ttl', '3'] });
      await waitFor(() => /became the leader of the background/.test(second.output()), {
        what: 'the new one to lead',
      });
      await kubectl.ok('annotate', 'clusterpolicies.kyverno.io', 'once', 'note=changed');
      await sleep(2_000);
      expect((await kubectl.get('configmap', 'once')).metadata.resourceVersion).toBe(
        metadata.resourceVersion,
      );
    });
  });

  it('resyncs periodically, one interval after the policy was created', async () => {
    await second.stop();
    second = await startBackgroundProcess(settings, { environment: { BACKGROUND_SCAN_INTERVAL: '6s' } });
    await kubectl.sendOk('create', [configMap('regular-trigger'), configMap('regular', { n: '1' }, {})]);
    const rule = policy(
      'regular',
      ['regular-trigger'],
      target('ConfigMap', 'regular'),
      labels({
        by: "{{ request.operation || 'BACKGROUND' }}",
      }),
    );
    await withPolicies(kubectl, [rule], async () => {
      await becomes(
        kubectl,
        'configmap',
        'regular',
        ({ metadata }) => metadata.labels?.['by'] === 'BACKGROUND',
      );
      const shown = await kubectl.ok('get', 'configmap', 'regular', '-o', 'json', '--show-managed-fields');
      const writes = JSON.parse(shown).metadata.managedFields as { manager: string; time: string }[];
      const writtenAt = writes.find(({ manager }) => manager === 'kymera-background')?.time ?? '';
      const createdAt = await kubectl.ok(
        'get',
        'clusterpolicies.kyverno.io',
        'regular',
        '-o=jsonpath={.metadata.creationTimestamp}',
      );
      // The API server counts whole seconds.
      expect(Date.parse(writtenAt) - Date.parse(createdAt)).toBeGreaterThanOrEqual(5_000);
      await kubectl.ok('label', 'configmap', 'regular', 'by=somebody', '--overwrite');
      await becomes(
        kubectl,
        'configmap',
        'regular',
        ({ metadata }) => metadata.labels?.['by'] === 'BACKGROUND',
      );
    });
  });

  it('reports its state in metrics, logs and readiness', async () => {
    const text = await second.metrics();
    expect(text).toMatch(/^kymera_background_leader 1$/m);
    expect(text).toMatch(
      /^kymera_update_requests_ended_total\{policy_name="regular",rule_name="regular",state="Completed"\} \d+$/m,
    );
    expect(text).toMatch(/^kymera_background_targets_total\{.*outcome="written"\} \d+$/m);
  });

  it('keeps what UpdateRequests hold from those who may only view', async () => {
    await kubectl.ok('create', 'clusterrolebinding', 'e2e-viewer', '--clusterrole=view', '--user=viewer');
    const answer = await background.own.run(['auth', 'can-i', 'get', 'updaterequests', '--as=viewer']);
    expect(answer.stdout).toMatch(/^no/);
    await kubectl.ok('delete', 'clusterrolebinding', 'e2e-viewer');
  });
});
