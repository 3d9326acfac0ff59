import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { callService, mayCall } from './service-call.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const limits = { allowedHosts: ['127.0.0.1'], timeoutMs: 30_000, maxBytes: 100 };

describe('hosts that policies may call', () => {
  it.each([
    ['web.team.svc', [], true],
    ['web.team.svc.cluster.local', [], true],
    ['example.com', [], false],
    ['127.0.0.1', [], false],
    ['169.254.169.254', [], false],
    ['web.team.svc.evil.com', [], false],
    ['api.example.com', ['*.example.com'], true],
    ['API.example.com.', ['api.example.com'], true],
    ['example.com', ['*.example.com'], false],
  ])('%s with the list %j: %s', (host, allowed, expected) => {
    expect(mayCall(host, allowed)).toBe(expected);
  });
});

describe('a call of a service', () => {
  it('sends body and headers, and yields the JSON of the answer', async () => {
    const url = await serve((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () =>
        response.end(JSON.stringify({ got: JSON.parse(text), x: request.headers['x'] ?? null })),
      );
    });
    const answer = await callService(
      { method: 'POST', service: { url, headers: [{ key: 'x', value: '1' }] }, body: { a: 1 } },
      limits,
    );
    expect(answer).toEqual({ found: true, value: { got: { a: 1 }, x: '1' } });
  });

  it('does not send headers of the policy that belong to the connection', async () => {
    const url = await serve((request, response) => {
      const { host, 'transfer-encoding': coding, 'content-length': length } = request.headers;
      response.end(JSON.stringify({ host, coding: coding ?? null, length: length ?? null }));
    });
    const headers = [
      { key: 'Host', value: 'victim.example' },
      { key: 'Transfer-Encoding', value: 'chunked' },
      { key: 'content-length ', value: '5' },
    ];
    expect(await callService({ method: 'GET', service: { url, headers } }, limits)).toEqual({
      found: true,
      value: { host: new URL(url).host, coding: null, length: null },
    });
  });

  it('connects to the address of the Service that was checked, whatever DNS answers', async () => {
    const url = await serve((_request, response) => response.end('"here"'));
    const service = { url: `http://web.team.svc:${new URL(url).port}` };
    const reach = async () => ({ address: '127.0.0.1' });
    expect(await callService({ method: 'GET', service }, limits, reach)).toEqual({
      found: true,
      value: 'here',
    });
  });

  it.each([
    ['a host that is not allowed', 'http://192.0.2.1/', /not among the allowed hosts/],
    ['another protocol', 'file:///etc/passwd', /http or https/],
    ['credentials in the address', 'http://u:p@127.0.0.1/', /credentials/],
    ['no address', 'nonsense', /is invalid/],
  ])('is refused for %s', async (_, url, reason) => {
    expect(await callService({ method: 'GET', service: { url } }, limits)).toEqual({
      found: false,
      error: expect.stringMatching(reason),
      reason: expect.not.stringContaining('192.0.2.1'),
    });
  });

  it.each<[string, RequestListener, RegExp]>([
    ['an answer that never comes', () => {}, /no response before the deadline/],
    [
      'an answer that never ends',
      (_, response) => void response.write('['),
      /did not end before the deadline/,
    ],
    [
      'an answer that is too large',
      (_, response) => void response.end('1'.repeat(101)),
      /larger than 100 bytes/,
    ],
    [
      'a redirect',
      (_, response) => void response.writeHead(302, { location: 'http://192.0.2.1/' }).end(),
      /answered 302/,
    ],
    ['text', (_, response) => void response.end('hello SECRET'), /did not return JSON/],
    ['an error', (_, response) => void response.writeHead(500).end('SECRET'), /answered 500/],
  ])('fails with %s, and does not quote it', async (_, listener, reason) => {
    const timeoutMs = reason.source.includes('deadline') ? 1_500 : limits.timeoutMs;
    const service = { url: await serve(listener) };
    const answer = await callService({ method: 'GET', service }, { ...limits, timeoutMs });
    expect(answer).toEqual({
      found: false,
      error: expect.stringMatching(reason),
      reason: expect.stringMatching(
        /^the (call of the )?service (failed|answered \d+ .+|did not return JSON)$/,
      ),
    });
    expect(JSON.stringify(answer)).not.toContain('SECRET');
  });
});
