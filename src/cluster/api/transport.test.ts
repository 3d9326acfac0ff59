import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createTransport } from './transport.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

function transportWith(date: string | undefined) {
  return transportTo((_request, response) => {
    response.sendDate = false;
    if (date !== undefined) response.setHeader('date', date);
    response.end('{}');
  });
}

async function transportTo(answer: RequestListener) {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return createTransport({
    server: `http://127.0.0.1:${port}`,
    namespace: undefined,
    settings: async () => ({ agent: undefined, headers: {} }),
    close: () => undefined,
  } as unknown as Parameters<typeof createTransport>[0]);
}

describe('the time of the API server', () => {
  const yearLater = Date.now() + 365 * 86_400_000;

  it('is that of its last response, and passes', async () => {
    const transport = await transportWith(new Date(yearLater).toUTCString());
    await transport.send({ method: 'GET', path: '/' });
    const first = transport.now();
    expect(first).toBeGreaterThanOrEqual(yearLater - 1_000);
    expect(first).toBeLessThan(yearLater + 600_000);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(transport.now()).toBeGreaterThan(first);
  });

  it.each([
    ['no date', undefined],
    ['a date that is none', 'soon'],
  ])('is the own time for a response with %s', async (_name, date) => {
    const transport = await transportWith(date);
    await transport.send({ method: 'GET', path: '/' });
    expect(Math.abs(transport.now() - Date.now())).toBeLessThan(60_000);
  });
});

describe('a connection that is closed before the response', () => {
  /** The methods of the requests that arrived. */
  async function sendTo(method: string, closing: number) {
    const arrived: string[] = [];
    const transport = await transportTo((request, response) => {
      arrived.push(request.method ?? '');
      if (arrived.length <= closing) request.socket.destroy();
      else response.end('{}');
    });
    const ended = await transport.send({ method, path: '/' }).then(
      ({ status }) => status,
      (error: Error) => error.message,
    );
    return { arrived, ended };
  }

  it('is replaced up to three times for a request that reads', async () => {
    expect(await sendTo('GET', 1)).toEqual({ arrived: ['GET', 'GET'], ended: 200 });
    expect(await sendTo('GET', 3)).toEqual({ arrived: ['GET', 'GET', 'GET', 'GET'], ended: 200 });
    const { arrived, ended } = await sendTo('GET', 4);
    expect([arrived, ended]).toEqual([
      ['GET', 'GET', 'GET', 'GET'],
      expect.stringMatching(/^127\.0\.0\.1:\d+ cannot be reached: socket hang up$/),
    ]);
  });

  it('fails a request that writes: it may have been processed', async () => {
    expect(await sendTo('POST', 1)).toEqual({
      arrived: ['POST'],
      ended: expect.stringContaining('cannot be reached: socket hang up'),
    });
  });
});
