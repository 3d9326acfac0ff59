import { once } from 'node:events';
import { createServer, globalAgent, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { DataQuery } from '../../engine/context/data-source.ts';
import { createClient } from '../api/client.ts';
import type { Informer } from '../api/informer.ts';
import { smallCluster } from '../api/served-kinds.testing.ts';
import { createTransport } from '../api/transport.ts';
import { createConfigMapCache } from './config-map-cache.ts';
import { createClusterDataSource } from './data-source.ts';
import { createOpenApiDocuments } from './openapi-documents.ts';

/** Far longer than the deadlines of these tests. */
const timeoutMs = 30_000;

/** Takes every request and never answers. */
let silent: Server;
/** Takes connections and never says anything. */
let mute: TcpServer;

const portOf = (server: { address(): AddressInfo | string | null }) => (server.address() as AddressInfo).port;

beforeAll(async () => {
  silent = createServer(() => {});
  mute = createTcpServer((socket) => socket.on('error', () => {}));
  for (const server of [silent, mute])
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(() => {
  vi.useRealTimers();
});

afterAll(() => {
  silent.closeAllConnections();
  silent.close();
  mute.close();
});

const noNamespaces = { get: () => undefined } as unknown as Informer;

function source(port = portOf(silent)) {
  const client = createClient(
    createTransport({
      server: `http://127.0.0.1:${port}`,
      namespace: undefined,
      settings: async () => ({ agent: globalAgent, headers: {} }),
      close: () => {},
    }),
  );
  return createClusterDataSource({
    client,
    kinds: () => smallCluster,
    namespaces: noNamespaces,
    configMaps: createConfigMapCache(client),
    openApi: createOpenApiDocuments(client),
    globalContext: {
      set: () => {},
      read: () => ({ found: false, error: '' }),
      states: () => [],
      stop: async () => {},
    },
    calls: { allowedHosts: ['127.0.0.1'], timeoutMs, maxBytes: 1_000 },
    namespace: 'kymera',
  });
}

describe('what does not answer is given up when nobody waits any more', () => {
  it.each<[string, () => DataQuery]>([
    ['a ConfigMap', () => ({ type: 'configMap', namespace: 'a', name: 'b' })],
    ['a namespace', () => ({ type: 'namespaceLabels', namespace: 'a' })],
    ['an object', () => ({ type: 'object', kind: 'ConfigMap', namespace: 'a', name: 'b' })],
    ['an object of any namespace', () => ({ type: 'object', kind: 'ConfigMap', name: 'b' })],
    ['the API server', () => ({ type: 'apiCall', method: 'GET', urlPath: '/api/v1/pods' })],
    [
      'a service',
      () => ({
        type: 'apiCall',
        method: 'POST',
        service: { url: `http://127.0.0.1:${portOf(silent)}/` },
      }),
    ],
    [
      'a service behind TLS that does not even greet',
      () => ({ type: 'apiCall', method: 'GET', service: { url: `https://127.0.0.1:${portOf(mute)}/` } }),
    ],
    [
      'a registry',
      () => ({
        type: 'imageRegistry',
        reference: `127.0.0.1:${portOf(silent)}/app:1`,
        credentials: { allowInsecureRegistry: true },
      }),
    ],
    [
      'a registry whose password does not come',
      () => ({
        type: 'imageRegistry',
        reference: `127.0.0.1:${portOf(silent)}/app:1`,
        credentials: { allowInsecureRegistry: true, secrets: ['login'] },
      }),
    ],
  ])('%s', async (_, query) => {
    const startedAt = performance.now();
    expect(await source().read(query(), 150.5)).toMatchObject({
      found: false,
      error: expect.stringMatching(/before the deadline|in time|timeout/),
    });
    expect(performance.now() - startedAt).toBeLessThan(timeoutMs / 2);
  });

  it('and its connection is closed', async () => {
    const arrived = once(silent, 'request');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const answer = source().read({ type: 'apiCall', method: 'GET', urlPath: '/api' }, 50);
    const [request] = (await arrived) as [IncomingMessage];
    const closed = once(request.socket, 'close');
    vi.advanceTimersByTime(49);
    expect(request.socket.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await answer).toMatchObject({ found: false });
    await closed;
  });
});

describe('a namespaced Policy', () => {
  it.each<[string, DataQuery]>([
    ['a cluster-scoped object', { type: 'object', kind: 'Namespace', name: 'a' }],
    ['an object of unknown scope', { type: 'object', kind: 'Unknown', name: 'a', namespace: 'team' }],
    ['an object of another namespace', { type: 'object', kind: 'ConfigMap', name: 'a', namespace: 'other' }],
    ['a path outside', { type: 'apiCall', method: 'GET', urlPath: '/api/v1/nodes' }],
    ['a path with %2e', { type: 'apiCall', method: 'GET', urlPath: '/api/v1/namespaces/team/%2e%2e/x' }],
    ['an allowed host', { type: 'apiCall', method: 'GET', service: { url: 'http://127.0.0.1:1/' } }],
    ['another service', { type: 'apiCall', method: 'GET', service: { url: 'http://a.other.svc/' } }],
  ])('may not read %s', async (_, query) => {
    const answer = await source().read({ ...query, policyNamespace: 'team' } as DataQuery);
    expect(answer).toMatchObject({ found: false, denied: true });
  });

  it('may not call a Service of type ExternalName', async () => {
    const api = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ spec: { type: 'ExternalName', externalName: 'victim.other.svc' } }));
    });
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
    const service = { url: 'http://web.team.svc/' };
    const query: DataQuery = { type: 'apiCall', method: 'GET', service, policyNamespace: 'team' };
    expect(await source(portOf(api)).read(query)).toEqual({
      found: false,
      denied: true,
      error: 'a Policy in namespace team cannot call Service web, which is of type ExternalName',
    });
    api.close();
  });
});
