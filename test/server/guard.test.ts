import { connect as connectTcp } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { labelPolicy, pod, reviewOf, startTestServer, type TestServer } from './running-server.testing.ts';
import { makeClient } from './self-signed.testing.ts';

const policy = labelPolicy('one', 'a: "1"');
const review = JSON.stringify(reviewOf(pod));
const token = 'k7f3q9x2m4w8t6z1r5n0b3c7v9d2h4j6';
const previous = 'p1o2i3u4y5t6r7e8w9q0a1s2d3f4g5h6';
const certificates = ['none', 'stranger', 'accepted'] as const;

interface Exchange {
  readonly method: string;
  readonly target: string;
  readonly certificate: (typeof certificates)[number];
}

/** Sends the target byte by byte as it is: clients would normalize it. */
async function statusOf(server: TestServer, { method, target, certificate }: Exchange): Promise<number> {
  const { cert, key } = certificate === 'none' ? {} : await clients[certificate];
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connectTls(
      { port: server.server.port, host: '127.0.0.1', ca: server.ca, cert, key },
      () => {
        const body = method === 'POST' || method === 'PUT' ? review : '';
        socket.write(
          `${method} ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/json\r\n` +
            `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
        );
      },
    );
    socket.on('data', (part) => {
      text += part;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1])));
  });
}

const clients = { stranger: makeClient('stranger'), accepted: makeClient('accepted') };

/** Ways to write a path that a careless guard and the router may read differently, and whether the router accepts them. */
const spellings: readonly [name: string, isRouted: boolean, spell: (path: string) => string][] = [
  ['plain', true, (path) => path],
  ['absolute-form', true, (path) => `https://127.0.0.1${path}`],
  ['percent-encoded', true, (path) => path.replace(/[a-z](?=[^/]*$)/, percentEncode)],
  ['with a query', true, (path) => `${path}?a=/x`],
  ['with a fragment', true, (path) => `${path}#x`],
  ['with a semicolon', false, (path) => `${path};x=1`],
  ['with a trailing slash', false, (path) => `${path}/`],
  ['with a double slash', false, (path) => `/${path}`],
  ['with a dot segment', false, (path) => `/.${path}`],
  ['with a parent segment', false, (path) => `/healthz/..${path}`],
  ['in upper case', false, (path) => path.toUpperCase()],
];

function percentEncode(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16)}`;
}

const methods = ['POST', 'GET', 'PUT', 'HEAD', 'OPTIONS'] as const;

describe('only a POST with an accepted token and certificate is reviewed', () => {
  it.each(spellings)('path %s', async (_name, isRouted, spell) => {
    const { cert: clientCa } = await clients.accepted;
    let reviews = 0;
    const server = await startTestServer(policy, {
      clientCa,
      pathTokens: () => [token, previous],
      onDecision: () => {
        reviews += 1;
      },
    });
    const tokens = { [token]: true, [previous]: true, [`${token}x`]: false, mutate: false, '': false };
    for (const [candidate, isAccepted] of Object.entries(tokens)) {
      const target = spell(`${candidate === '' ? '' : `/${candidate}`}/mutate/fail`);
      for (const method of methods) {
        for (const certificate of certificates) {
          const before = reviews;
          const status = await statusOf(server, { method, target, certificate });
          const isReviewed = method === 'POST' && isAccepted && isRouted && certificate === 'accepted';
          const isRefused = method === 'POST' && isAccepted && isRouted && certificate !== 'accepted';
          const about = `${method} ${target} ${certificate}`;
          expect(status, about).toBe(isReviewed ? 200 : isRefused ? 403 : 404);
          expect(reviews - before, about).toBe(isReviewed ? 1 : 0);
        }
      }
    }
    expect(server.logged()).not.toMatch(new RegExp(`${token}|${previous}`, 'i'));
    expect((await server.get('/metrics')).text).not.toMatch(new RegExp(`${token}|${previous}`, 'i'));
  });
});

describe('/debug/decisions', () => {
  it.each(spellings)('path %s needs a certificate', async (_name, isRouted, spell) => {
    const { cert: clientCa } = await clients.accepted;
    const server = await startTestServer(policy, { clientCa, keepDecisions: 5 });
    for (const method of methods) {
      for (const certificate of certificates) {
        const status = await statusOf(server, { method, target: spell('/debug/decisions'), certificate });
        const isShown = method === 'GET' && isRouted;
        const expected = !isShown ? [404, 405] : certificate === 'accepted' ? [200] : [403];
        expect(expected, `${method} ${certificate}`).toContain(status);
      }
    }
  });
});

it('a token that is no longer accepted stops working, and without a token nothing is reviewed', async () => {
  let tokens = [previous];
  const server = await startTestServer(policy, { pathTokens: () => tokens });
  const post = async (path: string) => (await server.post(path, review)).status;
  expect(await post(`/${previous}/mutate`)).toBe(200);
  tokens = [token, previous];
  expect([await post(`/${previous}/mutate`), await post(`/${token}/mutate`)]).toEqual([200, 200]);
  tokens = [token];
  expect([await post(`/${previous}/mutate`), await post(`/${token}/mutate`)]).toEqual([404, 200]);
  tokens = [];
  expect(await post(`/${token}/mutate`)).toBe(404);
  expect(await post('/mutate')).toBe(404);
  expect(server.logged()).toContain('"path":"/mutate"');
  expect(server.logged()).not.toContain(token);
  expect(server.logged()).not.toContain(previous);
});

describe('TLS', () => {
  it('is not renegotiated', async () => {
    const server = await startTestServer(policy);
    const outcome = await new Promise((resolve) => {
      const options = {
        port: server.server.port,
        host: '127.0.0.1',
        ca: server.ca,
        maxVersion: 'TLSv1.2',
      } as const;
      const socket: TLSSocket = connectTls(options, () => {
        socket.renegotiate({}, (error) => resolve(error === null ? 'renegotiated' : 'refused'));
      });
      socket.on('error', () => resolve('refused')).on('close', () => resolve('refused'));
    });
    expect(outcome).toBe('refused');
  });

  it('closes a connection whose handshake stalls', async () => {
    const server = await startTestServer(policy, { handshakeMilliseconds: 200 });
    const startedAt = performance.now();
    await new Promise<void>((resolve) => {
      const socket = connectTcp(server.server.port, '127.0.0.1');
      socket.on('error', () => undefined).on('close', () => resolve());
    });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
