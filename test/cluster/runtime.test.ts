import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ControlPlaneState } from '../../e2e/control-plane/state.ts';
import { cleanup } from '../../src/cli/operate/cleanup.ts';
import { doctor } from '../../src/cli/operate/doctor.ts';
import type { ApiClient } from '../../src/cluster/api/client.ts';
import { connect } from '../../src/cluster/api/connect.ts';
import { resourceTypes } from '../../src/cluster/api/resource-path.ts';
import { type ClusterRuntime, startCluster } from '../../src/cluster/runtime.ts';
import { completeSteps } from '../../src/engine/steps.ts';
import { isObject, type Json, type JsonObject, valueAt } from '../../src/json/value.ts';
import { createMetrics } from '../../src/server/metrics/metrics.ts';
import { createReviewer } from '../../src/server/reviews/reviewer.ts';
import { describeUnless } from '../needs.testing.ts';
import { findBinaries, skipReason, startControlPlane, stopControlPlane } from './control-plane.ts';
import { eventually } from './eventually.ts';
import { freePort, startWebhookServer, type WebhookServer } from './webhook-server.ts';

const binaries = findBinaries();
const describeCluster = describeUnless(binaries === undefined ? skipReason : undefined);
const lease = { retryMs: 300, renewDeadlineMs: 2_000, durationMs: 3_000 };
let state: ControlPlaneState;
let client: ApiClient;
let server: WebhookServer;
let runtime: ClusterRuntime;
let port: number;
const warnings: string[] = [];

/** Asynchronous, because the API server calls this process. */
async function kubectl(args: readonly string[], input?: Json): Promise<string> {
  const { stdout } = await run(args, input);
  return stdout;
}

function run(
  args: readonly string[],
  input?: Json,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const running = promisify(execFile)(state.kubectl, ['--kubeconfig', state.kubeconfig, ...args], {
    maxBuffer: 64 * 1024 * 1024,
  });
  running.child.stdin?.end(input === undefined ? '' : JSON.stringify(input));
  return running;
}

function refusal(args: readonly string[], input: Json): Promise<string> {
  return run(args, input).then(
    () => '',
    (error: { stderr: string }) => error.stderr,
  );
}

const ruleFor = (kinds: readonly string[], mutate: JsonObject): JsonObject => ({
  name: 'rule',
  match: { any: [{ resources: { kinds: [...kinds] } }] },
  mutate,
});
const label = (value: string): JsonObject => ({
  patchStrategicMerge: { metadata: { labels: { from: value } } },
});

function clusterPolicy(name: string, rule: JsonObject, spec: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: { name },
    spec: { background: false, rules: [rule], ...spec },
  };
}

const configMap = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
});

async function readyOf(name: string): Promise<string> {
  const policy = JSON.parse(
    await kubectl(['get', 'clusterpolicies.kyverno.io', name, '-o', 'json']),
  ) as JsonObject;
  return `${valueAt(policy, ['status', 'conditions', 0, 'status'])} ${valueAt(policy, ['status', 'conditions', 0, 'message'])}`;
}

const isReady = (name: string) =>
  eventually(
    () => readyOf(name),
    (text) => text.startsWith('True'),
  );

function options(more: object = {}) {
  return {
    kubeconfig: state.kubeconfig,
    webhook: { url: `https://127.0.0.1:${port}` },
    timing: { lease },
    log: {
      info: () => {},
      warn: (details: object, message: string) => warnings.push(`${message} ${JSON.stringify(details)}`),
    },
    ...more,
  };
}

async function webhookNames(): Promise<readonly string[]> {
  const { items } = await client.list(resourceTypes.mutatingWebhooks);
  return items
    .flatMap(({ webhooks }) => (webhooks as readonly JsonObject[] | undefined) ?? [])
    .map(({ name }) => String(name));
}

describeCluster('life in a real cluster', () => {
  beforeAll(async () => {
    if (binaries === undefined) return;
    state = await startControlPlane(binaries);
    ({ client } = await connect({ kubeconfig: state.kubeconfig }));
    port = await freePort();
    server = await startWebhookServer(port);
    // Started before the CRDs exist, which are noticed later.
    runtime = await startCluster(options());
    const certificate = runtime.certificate();
    if (certificate === undefined) throw new Error('no certificate');
    server.use(certificate);
    const review = createReviewer({
      provider: runtime.provider,
      metrics: createMetrics(),
      log: {
        info: () => undefined,
        warn: () => undefined,
        error: () => undefined,
        infoText: () => undefined,
        isLevelEnabled: () => false,
      },
    });
    const mutate = (set: 'ignore' | 'fail', policy?: string) => async (body: Json) =>
      JSON.parse(await completeSteps(review(body, { set, policy }, 10_000, '/mutate'))) as JsonObject;
    server.answer({
      '/mutate/ignore': mutate('ignore'),
      '/mutate/fail': mutate('fail'),
      '/mutate/fail/finegrained/append': mutate('fail', 'append'),
      [runtime.policyReviewPath]: runtime.policyReviewer,
    });
    await kubectl(['apply', '-f', 'deploy/crds']);
    await kubectl(['wait', '--for=condition=Established', '--timeout=600s', '-f', 'deploy/crds']);
  });

  afterAll(async () => {
    await runtime?.stop();
    await server?.close();
    client?.close();
    if (state !== undefined) await stopControlPlane(state.folder, { keepLogs: false });
  });

  it('the kinds are accepted, as structural schemas, and explained by kubectl', async () => {
    const { items } = await client.list(resourceTypes.customResourceDefinitions);
    const complaints = items.flatMap((item) =>
      ((valueAt(item, ['status', 'conditions']) ?? []) as readonly JsonObject[]).filter(
        ({ type, status }) => type === 'NonStructuralSchema' || (type === 'Established' && status !== 'True'),
      ),
    );
    expect(items).toHaveLength(readdirSync('deploy/crds').length);
    expect(complaints).toEqual([]);
    const text = await kubectl(['explain', 'clusterpolicies.spec.rules.mutate.foreach']);
    expect(text).toContain('An expression, without braces, that yields the elements.');
  });

  it('a policy becomes Ready, and objects are mutated', async () => {
    await eventually(
      () => runtime.provider.readiness().checks.some(({ name }) => name === 'clusterpolicies.kyverno.io'),
      Boolean,
    );
    await kubectl(['create', '-f', '-'], clusterPolicy('label', ruleFor(['ConfigMap'], label('label'))));
    await isReady('label');
    await kubectl(['create', '-f', '-'], configMap('mutated'));
    expect(JSON.parse(await kubectl(['get', 'configmap', 'mutated', '-o', 'json']))).toMatchObject({
      metadata: { labels: { from: 'label' } },
    });
    expect(await kubectl(['get', 'cpol', 'label'])).toMatch(
      /ADMISSION\s+BACKGROUND\s+READY\s+AGE\s+MESSAGE\nlabel\s+true\s+false\s+True/,
    );
  });

  it('a policy that cannot be loaded is refused with all its problems', async () => {
    await eventually(
      async () => (await client.list(resourceTypes.validatingWebhooks)).items.length,
      (count) => count === 1,
    );
    const bad = clusterPolicy('bad', {
      ...ruleFor(['ConfigMap'], { patchStrategicMerge: { metadata: { labels: { a: '{{ b.c }}' } } } }),
      preconditions: { all: [{ key: 'a', operator: 'Nearly', value: 'b' }] },
    });
    // The API server uses a new webhook after a short delay.
    const message = await eventually(async () => {
      const text = await refusal(['create', '-f', '-'], bad);
      if (text === '') await kubectl(['delete', 'cpol', 'bad']);
      return text;
    }, Boolean);
    expect(message).toContain('problems');
    expect(message).toContain('/spec/rules/0/preconditions/all/0');
    expect(message).toContain('/spec/rules/0/mutate/patchStrategicMerge');
  });

  it('deprecated fields are reported', async () => {
    const match = { resources: { kinds: ['Secret'] } };
    const old = clusterPolicy('old', { name: 'rule', match, mutate: label('x') });
    const { stderr } = await run(['create', '--dry-run=server', '-f', '-'], old);
    expect(stderr).toMatch(/Warning: .*\/spec\/rules\/0\/match/);
  });

  it('targets that may not be changed are refused', async () => {
    const identity = 'system:serviceaccount:default:nobody';
    const other = await startCluster(
      options({ backgroundUser: identity, registerWebhooks: false, identity: 'other' }),
    );
    const rule = ruleFor(['ConfigMap'], {
      ...label('x'),
      targets: [{ apiVersion: 'v1', kind: 'Secret', namespace: 'default', name: 'a' }],
    });
    const request = { uid: '1', operation: 'CREATE', object: clusterPolicy('targets', rule) };
    const answer = await other.policyReviewer({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request,
    });
    await other.stop();
    expect(valueAt(answer as Json, ['response', 'allowed'])).toBe(false);
    expect(String(valueAt(answer as Json, ['response', 'status', 'message']))).toContain(
      `additional privileges are required for '${identity}': get secrets in namespace default, list secrets`,
    );
  });

  it('a policy that the API server refuses is named, and the others stay in force', async () => {
    const matchConditions = [{ name: 'broken', expression: 'request.nonsense(' }];
    await kubectl(
      ['create', '-f', '-'],
      clusterPolicy('broken', ruleFor(['Secret'], label('x')), { webhookConfiguration: { matchConditions } }),
    );
    await kubectl(['create', '-f', '-'], clusterPolicy('later', ruleFor(['Secret'], label('later'))));
    await isReady('later');
    expect(await readyOf('broken')).toMatch(/^False Not Ready: the API server refused it: .*nonsense/s);
    await kubectl(['delete', 'cpol', 'broken', 'later']);
  });

  it('a policy that must not run twice has an entry of its own', async () => {
    const append = {
      patchesJson6902:
        '- {op: add, path: /data, value: {a: b}}\n- {op: add, path: /metadata/finalizers/-, value: x.example/y}',
    };
    await kubectl(['create', '-f', '-'], clusterPolicy('append', ruleFor(['ConfigMap'], append)));
    await isReady('append');
    expect(await webhookNames()).toEqual([
      'fail.mutate.kymera.io',
      'append.cluster-policy.fail.mutate.kymera.io',
    ]);
    await kubectl(['create', '--dry-run=server', '-f', '-'], configMap('appended'));
    await kubectl(['delete', 'cpol', 'append']);
    await eventually(webhookNames, (names) => names.length === 1);
  });

  it('a configuration that somebody deletes comes back', async () => {
    await kubectl(['delete', 'mutatingwebhookconfigurations', '--all']);
    await eventually(webhookNames, (names) => names.length === 1);
  });

  it('settings, roles, kinds and data are at hand', async () => {
    await kubectl(['create', '-f', '-'], {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kymera', namespace: 'kymera' },
      data: { excludeGroups: 'system:nodes', defaultRegistry: 'registry.example.com' },
    });
    await eventually(
      () => runtime.settings().defaultRegistry,
      (registry) => registry === 'registry.example.com',
    );
    const admin = runtime.roles({ username: 'x', groups: ['system:masters'] }, 'default');
    expect(admin.clusterRoles).toContain('cluster-admin');
    expect(runtime.kindOfResource({ group: '', version: 'v1', resource: 'pods' })?.kind).toBe('Pod');
    const labels = await runtime.dataSource.read({ type: 'namespaceLabels', namespace: 'default' });
    expect(labels).toEqual({ found: true, value: { 'kubernetes.io/metadata.name': 'default' } });
    const call = await runtime.dataSource.read({
      type: 'apiCall',
      method: 'GET',
      urlPath: '/api/v1/namespaces/default/configmaps/mutated',
    });
    expect(call).toMatchObject({ found: true, value: { kind: 'ConfigMap' } });
    const missing = await runtime.dataSource.read({ type: 'configMap', namespace: 'default', name: 'none' });
    expect(missing).toEqual({
      found: false,
      error: 'ConfigMap default/none does not exist',
      reason: 'the ConfigMap does not exist',
    });
    const object = await runtime.dataSource.read({ type: 'object', kind: 'ConfigMap', name: 'mutated' });
    expect(object).toMatchObject({
      found: true,
      value: { kind: 'ConfigMap', metadata: { name: 'mutated' } },
    });
  });

  it('a ConfigMap that was read once is followed', async () => {
    const read = async () => {
      const answer = await runtime.dataSource.read({
        type: 'configMap',
        namespace: 'default',
        name: 'followed',
      });
      return answer.found && isObject(answer.value) ? answer.value['data'] : undefined;
    };
    await kubectl(['create', 'configmap', 'followed', '--from-literal=a=1']);
    expect(await read()).toEqual({ a: '1' });
    await eventually(
      () =>
        runtime.dataSource.read({ type: 'configMap', namespace: 'default', name: 'followed' }) instanceof
        Promise,
      (waits) => !waits,
    );
    await kubectl(['patch', 'configmap', 'followed', '--type=merge', '-p', '{"data":{"a":"2"}}']);
    await eventually(read, (data) => JSON.stringify(data) === '{"a":"2"}');
  });

  it('shared data is kept at hand', async () => {
    await kubectl(['create', '-f', '-'], {
      apiVersion: 'kyverno.io/v2alpha1',
      kind: 'GlobalContextEntry',
      metadata: { name: 'maps' },
      spec: {
        kubernetesResource: { group: '', version: 'v1', resource: 'configmaps', namespace: 'default' },
        projections: [{ name: 'names', jmesPath: '[].metadata.name' }],
      },
    });
    const answer = await eventually(
      () => runtime.dataSource.read({ type: 'globalReference', name: 'maps.names' }),
      (each) => !(each instanceof Promise) && each.found,
    );
    expect(answer).toMatchObject({ value: expect.arrayContaining(['mutated', 'followed']) });
  });

  it('events are written', async () => {
    const policy = runtime.provider.current().all.policies.find(({ key }) => key === 'label');
    const [rule] = policy?.rules ?? [];
    if (policy === undefined || rule === undefined) throw new Error('no policy');
    const failure = {
      code: 'KYM_JSON_PATCH_FAILED',
      stage: 'patch',
      rulePath: ['mutate'],
      detail: 'SECRET',
    } as const;
    runtime.recordReview({
      request: {
        kind: { group: '', version: 'v1', kind: 'ConfigMap' },
        subresource: '',
        name: 'mutated',
        namespace: 'default',
        object: null,
        oldObject: null,
        variables: {},
      },
      outcomes: [{ policy, rule, status: 'failed', message: 'SECRET', failure }],
      audited: [],
      denied: false,
    });
    const text = await eventually(
      () => kubectl(['get', 'events.events.k8s.io', '-A', '-o', 'json']),
      (each) => each.includes('PolicyViolation'),
    );
    expect(text).toContain('policy label/rule error: ');
    expect(text).not.toContain('SECRET');
  });

  it('a second replica serves with the same certificate, and takes over when the first goes', async () => {
    const second = await startCluster(options({ identity: 'second' }));
    expect(second.certificate()).toEqual(runtime.certificate());
    expect([runtime.isLeader(), second.isLeader()]).toEqual([true, false]);
    await runtime.retire();
    await eventually(() => second.isLeader(), Boolean);
    expect(await webhookNames()).toHaveLength(1);
    await second.stop();
    expect(await webhookNames()).toEqual([]);
    await runtime.stop();
  });

  it('a webhook configuration without a server is found and removed', async () => {
    runtime = await startCluster(options({ identity: 'third' }));
    await eventually(webhookNames, (names) => names.length === 1);
    const output: string[] = [];
    const io = {
      stdin: [] as unknown as AsyncIterable<string>,
      stdout: { isTTY: false, write: (text: string | Uint8Array) => void output.push(String(text)) },
      stderr: { isTTY: false, write: () => {} },
      cwd: '.',
      env: {},
    };
    expect(await doctor({ kubeconfig: state.kubeconfig }, io)).toBe(0);
    // As if it were killed: nothing is cleaned up.
    await server.close();
    server = await startWebhookServer(port);
    expect(await doctor({ kubeconfig: state.kubeconfig }, io)).toBe(1);
    expect(output.join('')).toContain(
      'the server of kymera-resource-mutation cannot be reached, so requests are refused',
    );
    expect(await doctor({ kubeconfig: state.kubeconfig, fix: true }, io)).toBe(0);
    await cleanup({ kubeconfig: state.kubeconfig, namespace: 'kymera', all: true }, io);
    expect(output.join('')).toContain('removed secret kymera/kymera-serving');
  });
});
