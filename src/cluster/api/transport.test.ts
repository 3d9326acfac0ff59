import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createTransport } from './transport.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function transportTo(date: string | undefined) {
  const server = createServer((_request, response) => {
    response.sendDate = false;
    if (date !== undefined) response.setHeader('date', date);
    response.end('{}');
  });
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
    const transport = await transportTo(new Date(yearLater).toUTCString());
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
    const transport = await transportTo(date);
    await transport.send({ method: 'GET', path: '/' });
    expect(Math.abs(transport.now() - Date.now())).toBeLessThan(60_000);
  });
});
