import type { Http2SecureServer } from 'node:http2';
import { Agent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createTlsServer, readDirectly } from '../../src/server/tls-server.ts';
import { certificate, connect, overHttp2, send } from './running-server.ts';

const started: (() => void)[] = [];
afterEach(() => {
  for (const stop of started.splice(0)) stop();
});

/** Which of three ways a request takes, from the shortest to the longest. */
async function startThreeWays(isGuarded = false) {
  const { ca, cert, key } = await certificate();
  const times = { bodyMilliseconds: 10_000, idleMilliseconds: 10_000 };
  const server: Http2SecureServer = createTlsServer(
    { certificate: { cert, key }, ...times },
    (request, response) => {
      if (request.url !== '/mutate') return false;
      response.end('node');
      return true;
    },
    (_request, response) => response.end('framework'),
  );
  readDirectly(server, {
    ...times,
    isGuarded,
    isDraining: () => false,
    onBusy: () => undefined,
    shortcut: ({ target }, reply) =>
      target === '/mutate' ? { receive: () => reply.send(200, 'direct') } : undefined,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const session = connect(url, { ca });
  started.push(() => {
    agent.destroy();
    session.destroy();
    server.close();
  });
  return {
    kept: async (path: string) =>
      (await send(`${url}${path}`, { ca, method: 'POST', body: Buffer.from('{}'), agent })).text,
    closed: async () => (await send(`${url}/mutate`, { ca, method: 'POST', body: Buffer.from('{}') })).text,
    http2: async () => (await overHttp2(session, '/mutate', {})).text,
  };
}

it('plain reviews on kept connections are read directly, until the connection brings anything else', async () => {
  const { kept } = await startThreeWays();
  const answers = [];
  for (const path of ['/mutate', '/mutate', '/other', '/mutate']) answers.push(await kept(path));
  expect(answers).toEqual(['direct', 'direct', 'framework', 'node']);
});

it('callers that close, and those over HTTP/2, are read by Node', async () => {
  const { closed, http2 } = await startThreeWays();
  expect([await closed(), await http2()]).toEqual(['node', 'node']);
});

it('nothing is read directly of a caller that shows no certificate where one is asked for', async () => {
  const { kept } = await startThreeWays(true);
  expect(await kept('/mutate')).toBe('node');
});
