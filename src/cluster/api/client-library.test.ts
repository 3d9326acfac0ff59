import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig, KubernetesObjectApi, makeInformer, Watch } from '@kubernetes/client-node';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from './client.ts';
import { type Informer, startInformer } from './informer.ts';
import { loadAccess } from './kubeconfig-access.ts';
import { resourceTypes } from './resource-path.ts';
import { createTransport } from './transport.ts';

/**
 * The reasons of ADR 7 to keep our own client on top of the library's connection settings. A test of the library that
 * fails after an upgrade means that its reason is gone.
 */
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** An API server of one handler. */
async function serve(handle: RequestListener): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(request);
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function libraryConfig(url: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'c', server: url, skipTLSVerify: true }, { name: 'u' });
  return config;
}

async function ourClient(url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-library-'));
  const kubeconfig = join(folder, 'config');
  const config = {
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: url } }],
    users: [{ name: 'u', user: { token: 'T' } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  const client = createClient(createTransport(await loadAccess({ kubeconfig })));
  cleanUp.push(
    () => client.close(),
    () => rmSync(folder, { recursive: true }),
  );
  return client;
}

function follow(client: Awaited<ReturnType<typeof ourClient>>, errors: unknown[] = []): Informer {
  const informer = startInformer({
    client,
    type: resourceTypes.configMaps,
    kind: 'ConfigMap',
    select: { metadataOnly: true },
    timing: { watchSeconds: 1, backOff: { firstMs: 10, lastMs: 20 } },
    onError: (error) => errors.push(error),
  });
  cleanUp.push(() => informer.stop());
  return informer;
}

const path = '/api/v1/configmaps';
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const isWatch = (request: IncomingMessage) => request.url?.includes('watch=true') === true;
const answer: (items: object[]) => RequestListener = (items) => (request, response) => {
  if (isWatch(request)) return response.writeHead(200).flushHeaders();
  response.setHeader('content-type', 'application/json');
  return response.end(JSON.stringify({ kind: 'ConfigMapList', metadata: { resourceVersion: '7' }, items }));
};
const listed = (kind = 'ConfigMapList') => ({
  apiVersion: 'v1',
  kind,
  metadata: { resourceVersion: '7' },
  items: [],
});

describe('a deadline for the response', () => {
  it('the library waits for ever', async () => {
    const { url } = await serve(() => {});
    let done = false;
    const watching = new Watch(libraryConfig(url)).watch(
      path,
      {},
      () => {},
      () => {
        done = true;
      },
    );
    await wait(300);
    expect(done).toBe(false);
    void watching;
  });

  it('our client stops', async () => {
    const { url } = await serve(() => {});
    const client = await ourClient(url);
    await expect(client.list(resourceTypes.configMaps, { timeoutMs: 100 })).rejects.toThrow(/deadline/);
  });
});

describe('a watch', () => {
  it('of the library requests no bookmarks, no timeout and no metadata-only objects', async () => {
    const { url, requests } = await serve(answer([]));
    const informer = makeInformer(libraryConfig(url), path, async () => listed() as never);
    await informer.start();
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    const [request] = requests;
    expect(request?.url).not.toMatch(/allowWatchBookmarks|timeoutSeconds/);
    expect(request?.headers.accept).not.toMatch(/PartialObjectMetadata/);
    await informer.stop();
  });

  it('of our client requests all three', async () => {
    const { url, requests } = await serve(answer([]));
    follow(await ourClient(url));
    await expect.poll(() => requests.some(isWatch)).toBe(true);
    const request = requests.find(isWatch);
    expect(request?.url).toMatch(/allowWatchBookmarks=true&timeoutSeconds=1/);
    expect(request?.headers.accept).toMatch(/as=PartialObjectMetadata;/);
  });

  it('of the library stays silent for ever when the connection does', async () => {
    const { url, requests } = await serve(answer([]));
    const informer = makeInformer(libraryConfig(url), path, async () => listed() as never);
    await informer.start();
    await expect.poll(() => requests.length).toBe(1);
    await wait(500);
    expect(requests).toHaveLength(1);
    await informer.stop();
  });
});

describe('after an error', () => {
  it('an informer of the library stops for good', async () => {
    const { url, requests } = await serve((_, response) => response.writeHead(500).end());
    const informer = makeInformer(libraryConfig(url), path, async () => listed() as never);
    const errors: unknown[] = [];
    informer.on('error', (error) => errors.push(error));
    await informer.start();
    await expect.poll(() => errors.length).toBe(1);
    await wait(200);
    expect(requests).toHaveLength(1);
  });

  it('our informer tries again', async () => {
    const { url, requests } = await serve((request, response) =>
      isWatch(request) ? response.writeHead(500).end() : answer([])(request, response),
    );
    const errors: unknown[] = [];
    follow(await ourClient(url), errors);
    await expect.poll(() => requests.filter(isWatch).length).toBeGreaterThan(2);
    expect(errors[0]).toMatchObject({ status: 500 });
  });
});

describe('an object', () => {
  const stored = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', creationTimestamp: '2024-01-02T03:04:05Z', newField: 'kept' },
  };
  const discovery = {
    kind: 'APIResourceList',
    resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true }],
  };
  const handle: RequestListener = (request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.url === '/api/v1' ? discovery : stored));
  };

  it('of the library has lost fields that its version does not know', async () => {
    const { url } = await serve(handle);
    const api = KubernetesObjectApi.makeApiClient(libraryConfig(url));
    const read = await api.read({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c', namespace: 'n' },
    });
    expect(read.metadata).not.toHaveProperty('newField');
    expect(read.metadata?.creationTimestamp).toBeInstanceOf(Date);
  });

  it('of our client is what the API server sent', async () => {
    const { url } = await serve(handle);
    const client = await ourClient(url);
    expect(await client.get(resourceTypes.configMaps, { namespace: 'n', name: 'c' })).toEqual(stored);
  });
});
