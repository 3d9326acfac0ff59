import { connect, type TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import {
  heldData,
  labelPolicy,
  patchIn,
  pod,
  policyText,
  reviewOf,
  startTestServer,
  type TestServer,
} from './running-server.testing.ts';

const policy = labelPolicy('one', 'a: "1"');
const patch = [{ op: 'add', path: '/metadata/labels', value: { a: '1' } }];
const megabyte = 1024 * 1024;

interface Upload {
  readonly socket: TLSSocket;
  /** The whole answer, once the connection is closed. */
  readonly answer: Promise<string>;
}

/** Announces a body of 8 MB, sends so many bytes of it, and stalls. */
function stall(server: TestServer, bytes: number): Promise<Upload> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ port: server.server.port, host: '127.0.0.1', ca: server.ca }, () => {
      const head = `host: a\r\ncontent-type: application/json\r\ncontent-length: ${8 * megabyte}`;
      socket.write(`POST /mutate HTTP/1.1\r\n${head}\r\n\r\n`);
      socket.write(Buffer.alloc(bytes, ' '), () => resolve({ socket, answer }));
    });
    socket.once('error', reject);
    const answer = new Promise<string>((ended) => {
      socket.on('data', (part) => {
        text += part;
      });
      socket.on('error', () => undefined).on('close', () => ended(text));
    });
  });
}

const settled = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => true), new Promise((resolve) => setTimeout(() => resolve(false), 100))]);

describe('bytes in flight', () => {
  it('beyond the budget, the oldest incomplete upload is answered 503 with Retry-After', async () => {
    const server = await startTestServer(policy, { bodyBudget: 3 * megabyte });
    const oldest = await stall(server, 2 * megabyte);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const newer = await stall(server, 2 * megabyte);
    expect(await oldest.answer).toMatch(
      /^HTTP\/1.1 503 .*retry-after: 1\r\n.*too many requests are in flight/is,
    );
    expect(await settled(newer.answer)).toBe(false);
    expect(patchIn(await server.post('/mutate', reviewOf(pod)))).toEqual(patch);
    newer.socket.destroy();
  });

  it('held by reviews that are being answered, a further review is answered 503, and later ones are not', async () => {
    const { dataSource, asked, release } = heldData({ data: { team: 'blue' } });
    const waiting = policyText(
      'waiting',
      `context: [{name: cm, configMap: {name: settings, namespace: shop}}]
    mutate: {patchStrategicMerge: {metadata: {labels: {team: "{{ cm.data.team }}"}}}}`,
    );
    const server = await startTestServer(waiting, { dataSource, bodyBudget: 4 * megabyte });
    const large = { ...pod, spec: { ...(pod['spec'] as object), text: 'x'.repeat(megabyte) } };
    const first = server.post('/mutate', reviewOf(large));
    await expect.poll(asked).toBe(1);
    const second = await server.post('/mutate', reviewOf(large));
    expect([second.status, second.headers['retry-after']]).toEqual([503, '1']);
    const ignored = await server.post('/mutate/ignore', reviewOf(large));
    expect([ignored.status, ignored.headers['retry-after']]).toEqual([503, undefined]);
    const { text } = await server.get('/metrics');
    for (const path of ['/mutate', '/mutate/ignore'])
      expect(text).toContain(`kymera_reviews_shed_total{http_url="${path}",reason="memory"} 1`);
    expect(text).toContain('kymera_review_queue 0');
    expect(server.logged().match(/reviews shed/g)).toHaveLength(1);
    release();
    expect((await first).status).toBe(200);
    expect((await server.post('/mutate', reviewOf(large))).status).toBe(200);
  });

  it('are given back by callers that leave', async () => {
    const server = await startTestServer(policy, { bodyBudget: 5 * megabyte });
    for (let count = 0; count < 20; count += 1) (await stall(server, megabyte)).socket.destroy();
    const large = { ...pod, spec: { ...(pod['spec'] as object), text: 'x'.repeat(megabyte) } };
    expect((await server.post('/mutate', reviewOf(large))).status).toBe(200);
  });

  it('of strangers without a token are not read', async () => {
    const server = await startTestServer(policy, { pathTokens: () => ['secret'], bodyBudget: megabyte });
    const stalled = await stall(server, megabyte / 2);
    expect(await stalled.answer).toMatch(/^HTTP\/1.1 404 /);
  });
});

describe('before it is parsed', () => {
  it.each([
    ['a body of opening brackets', '['.repeat(8 * megabyte - 1), 400, 'the body is nested too deeply'],
    ['a body of values', `[${'1,'.repeat(2_000_000)}1]`, 413, 'the body contains too many values'],
    [
      'a body of strings that look like nesting',
      `["${'['.repeat(megabyte)}"]`,
      400,
      'the body is not an AdmissionReview',
    ],
  ])('%s is checked', async (_name, body, status, error) => {
    const server = await startTestServer(policy);
    const startedAt = process.cpuUsage().user;
    const answer = await server.post('/mutate', body);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([status, { error }]);
    expect(process.cpuUsage().user - startedAt).toBeLessThan(4_000_000);
  });
});

describe('connections', () => {
  const connected = (server: TestServer): Promise<TLSSocket> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: server.server.port, host: '127.0.0.1', ca: server.ca }, () =>
        resolve(socket),
      );
      socket.once('error', reject);
    });

  const review = JSON.stringify(reviewOf(pod));
  const exchange = async (socket: TLSSocket, request: string) => {
    socket.write(request);
    await new Promise((resolve) => socket.once('data', resolve));
  };
  const postReview =
    'POST /mutate HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n' +
    `content-length: ${Buffer.byteLength(review)}\r\n\r\n${review}`;

  it.each([
    ['a good answer to a GET', 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['an answered review', postReview],
  ])('that are idle after %s do not lock out a new one', async (_name, request) => {
    const server = await startTestServer(policy, { connectionLimit: 3 });
    const idle: TLSSocket[] = [];
    for (let count = 0; count < 3; count += 1) {
      const socket = await connected(server);
      socket.on('error', () => undefined);
      await exchange(socket, request);
      idle.push(socket);
    }
    for (let count = 0; count < 3; count += 1)
      expect(patchIn(await server.post('/mutate', reviewOf(pod)))).toEqual(patch);
    for (const socket of idle) socket.destroy();
  });

  it('beyond the limit replace the oldest one without an answered review', async () => {
    const server = await startTestServer(policy, { connectionLimit: 3 });
    const useful = await connected(server);
    await exchange(useful, postReview);
    const idle: TLSSocket[] = [];
    for (let count = 0; count < 5; count += 1) {
      const socket = await connected(server);
      socket.on('error', () => undefined);
      idle.push(socket);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(idle.map(({ destroyed, readableEnded }) => destroyed || readableEnded)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(useful.destroyed || useful.readableEnded).toBe(false);
    expect(patchIn(await server.post('/mutate', reviewOf(pod)))).toEqual(patch);
    for (const socket of [useful, ...idle]) socket.destroy();
  });
});
