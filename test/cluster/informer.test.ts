import { afterAll, beforeAll, expect, it } from 'vitest';
import { restartApiServer } from '../../e2e/control-plane/start.ts';
import type { ControlPlaneState } from '../../e2e/control-plane/state.ts';
import { startStallingProxy } from '../../e2e/stalling-proxy.ts';
import { type ApiClient, createClient } from '../../src/cluster/api/client.ts';
import { hasStatus } from '../../src/cluster/api/cluster-error.ts';
import { connect } from '../../src/cluster/api/connect.ts';
import { startDiscovery } from '../../src/cluster/api/discovery.ts';
import { type Change, type Informer, startInformer } from '../../src/cluster/api/informer.ts';
import { startLeaderElection } from '../../src/cluster/api/leader-election.ts';
import { resourceTypes } from '../../src/cluster/api/resource-path.ts';
import { createTransport } from '../../src/cluster/api/transport.ts';
import { compileKind } from '../../src/policy/kind-selector.ts';
import { describeUnless } from '../needs.testing.ts';
import { findBinaries, skipReason, startControlPlane, stopControlPlane } from './control-plane.ts';
import { eventually } from './eventually.ts';

const binaries = findBinaries();
const describeCluster = describeUnless(binaries === undefined ? skipReason : undefined);
let state: ControlPlaneState;
let client: ApiClient;
const informers: Informer[] = [];
const namespace = 'default';

function configMap(name: string, data: Record<string, string> = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

function follow(more: Partial<Parameters<typeof startInformer>[0]> = {}): {
  informer: Informer;
  changes: Change[];
} {
  const changes: Change[] = [];
  const informer = startInformer({
    client,
    type: resourceTypes.configMaps,
    kind: 'ConfigMap',
    select: { namespace },
    onChange: (change) => changes.push(change),
    ...more,
  });
  informers.push(informer);
  return { informer, changes };
}

describeCluster('with a real API server', () => {
  beforeAll(async () => {
    if (binaries === undefined) return;
    state = await startControlPlane(binaries);
    ({ client } = await connect({ kubeconfig: state.kubeconfig }));
  });

  afterAll(async () => {
    await Promise.all(informers.map((informer) => informer.stop()));
    client?.close();
    if (state !== undefined) await stopControlPlane(state.folder, { keepLogs: false });
  });

  it('the client creates, reads, updates, patches and deletes', async () => {
    const created = await client.create(resourceTypes.configMaps, configMap('crud', { a: '1' }));
    const updated = await client.update(resourceTypes.configMaps, { ...created, data: { a: '2' } });
    expect(updated['data']).toEqual({ a: '2' });
    const place = { namespace, name: 'crud' };
    const patched = await client.patch(resourceTypes.configMaps, place, { data: { b: '3' } });
    expect(patched['data']).toEqual({ a: '2', b: '3' });
    await client.update(resourceTypes.configMaps, { ...created, data: {} }).then(
      () => expect.unreachable(),
      (error: unknown) => expect(hasStatus(error, 409)).toBe(true),
    );
    await client.delete(resourceTypes.configMaps, place);
    await expect(client.get(resourceTypes.configMaps, place)).rejects.toMatchObject({
      status: 404,
      reason: 'NotFound',
    });
  });

  it('a dry run keeps nothing', async () => {
    await client.create(resourceTypes.configMaps, configMap('dry'), { dryRun: true });
    await expect(client.get(resourceTypes.configMaps, { namespace, name: 'dry' })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('a call without a response before its deadline fails, and the next one uses another connection', async () => {
    const proxy = await startStallingProxy(Number(new URL(state.server).port));
    const { access } = await connect({ kubeconfig: state.kubeconfig });
    const throughProxy = createClient(
      createTransport({ ...access, server: `https://127.0.0.1:${proxy.port}` }),
    );
    const call = () => throughProxy.raw({ method: 'GET', path: '/api', timeoutMs: 500 });
    await call();
    proxy.stall();
    await expect(call()).rejects.toThrow(/no response before the deadline/);
    await expect(call()).resolves.toMatchObject({ status: 200 });
    throughProxy.close();
    await proxy.close();
  });

  it('discovery knows kinds, versions and subresources', async () => {
    const discovery = await startDiscovery(client);
    const table = discovery.current();
    expect(table.kindOfResource({ group: 'apps', version: 'v1', resource: 'deployments' })?.kind).toBe(
      'Deployment',
    );
    expect(table.resourceOf({ kind: 'Pod' })).toMatchObject({ resource: 'pods', namespaced: true });
    const selector = compileKind('Pod');
    const [pod] = selector === undefined ? [] : table.select(selector);
    expect(pod?.subresources).toEqual(expect.arrayContaining(['status', 'exec', 'ephemeralcontainers']));
  });

  it('an informer sees what is there, what comes, changes and goes', async () => {
    await client.create(resourceTypes.configMaps, configMap('before'));
    const { informer, changes } = follow();
    await informer.synced;
    // The first list may come from an older cache of the API server; the watch adds what is missing.
    const before = await eventually(
      () => informer.get('default/before'),
      (object) => object !== undefined,
    );
    expect(before).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
    const made = await client.create(resourceTypes.configMaps, configMap('later', { a: '1' }));
    await client.update(resourceTypes.configMaps, { ...made, data: { a: '2' } });
    await eventually(
      () => informer.get('default/later')?.['data'],
      (data) => JSON.stringify(data) === '{"a":"2"}',
    );
    await client.delete(resourceTypes.configMaps, { namespace, name: 'later' });
    await eventually(
      () => informer.get('default/later'),
      (object) => object === undefined,
    );
    const seen = changes.filter(({ key }) => key === 'default/later');
    expect(seen.map(({ object, previous }) => [object !== undefined, previous !== undefined])).toEqual([
      [true, false],
      [true, true],
      [false, true],
    ]);
  });

  it('an informer of metadata keeps no more', async () => {
    const { informer } = follow({ select: { namespace, metadataOnly: true } });
    await informer.synced;
    expect(informer.get('default/before')).not.toHaveProperty('data');
  });

  it('an informer notices a connection that fell silent, within a minute', async () => {
    const proxy = await startStallingProxy(Number(new URL(state.server).port));
    const { access } = await connect({ kubeconfig: state.kubeconfig });
    const throughProxy = createClient(
      createTransport({ ...access, server: `https://127.0.0.1:${proxy.port}` }),
    );
    const { informer } = follow({ client: throughProxy });
    await informer.synced;
    await new Promise((resolve) => setTimeout(resolve, 300));
    proxy.stall();
    await client.create(resourceTypes.configMaps, configMap('after-silence'));
    await eventually(
      () => informer.get('default/after-silence'),
      (object) => object !== undefined,
      60,
    );
    await informer.stop();
    throughProxy.close();
    await eventually(
      () => proxy.connections(),
      (count) => count === 0,
      5,
    );
    await proxy.close();
  });

  it('of two candidates one leads, and the other when the first gives up', async () => {
    const timing = { retryMs: 200, renewDeadlineMs: 1_000, durationMs: 2_000 };
    const told: string[] = [];
    const stand = (identity: string) =>
      startLeaderElection({
        client,
        namespace,
        name: 'election',
        identity,
        timing,
        onChange: (leads) => told.push(`${identity} ${leads}`),
      });
    const one = stand('one');
    await eventually(() => one.isLeader(), Boolean);
    const two = stand('two');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect([one.isLeader(), two.isLeader()]).toEqual([true, false]);
    await one.stop();
    await eventually(() => two.isLeader(), Boolean, 3);
    await two.stop();
    expect(told).toEqual(['one true', 'one false', 'two true', 'two false']);
  });

  it('an informer survives a restart of the API server', async () => {
    const { informer } = follow();
    await informer.synced;
    await restartApiServer(state.folder);
    await eventually(
      () => client.create(resourceTypes.configMaps, configMap('after-restart')).then(Boolean, () => false),
      Boolean,
      30,
    );
    await eventually(
      () => informer.get('default/after-restart'),
      (object) => object !== undefined,
      30,
    );
  });

  it('an informer continues when its watch ends, and lists again when its resourceVersion is too old', async () => {
    const errors: unknown[] = [];
    const stale = {
      ...client,
      // Older than everything in the cache of the restarted API server.
      watch: (...[type, options]: Parameters<ApiClient['watch']>) =>
        client.watch(type, errors.length === 0 ? { ...options, resourceVersion: '1' } : options),
    };
    const { informer } = follow({
      client: stale,
      timing: { watchSeconds: 1, backOff: { firstMs: 10, lastMs: 100 } },
      onError: (error) => errors.push(error),
    });
    await informer.synced;
    await eventually(
      () => errors.length,
      (count) => count > 0,
    );
    expect(errors[0]).toMatchObject({ status: 410 });
    await client.create(resourceTypes.configMaps, configMap('after-410'));
    await eventually(
      () => informer.get('default/after-410'),
      (object) => object !== undefined,
    );
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    await client.create(resourceTypes.configMaps, configMap('after-end'));
    await eventually(
      () => informer.get('default/after-end'),
      (object) => object !== undefined,
    );
    expect(errors).toHaveLength(1);
  });
});
