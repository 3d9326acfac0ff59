import { connect as connectTls, createServer, type Server, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { createDirectReader, type DirectOptions } from '../../src/server/reviews/direct-connection.ts';
import {
  certificate,
  heldData,
  labelPolicy,
  pod,
  policyText,
  reviewOf,
  startTestServer,
} from './running-server.ts';

const policy = labelPolicy('one', 'a: "1"');
const waiting = policyText(
  'waiting',
  `context: [{name: cm, configMap: {name: settings, namespace: shop}}]
    mutate: {patchStrategicMerge: {metadata: {labels: {team: "{{ cm.data.team }}"}}}}`,
);
const review = JSON.stringify(reviewOf(pod));
const sockets: TLSSocket[] = [];
const servers: Server[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

describe('a connection that brings reviews', () => {
  it('is answered as often as it asks', async () => {
    const caller = await callerOf(await startTestServer(policy));
    for (let count = 0; count < 5; count += 1) {
      caller.write(post(review));
      expect(await caller.answer()).toMatchObject({ status: 200, body: { response: { allowed: true } } });
    }
  });

  it('is answered in order when it asks again before it was answered', async () => {
    const caller = await callerOf(await startTestServer(policy));
    const named = (uid: string) =>
      post(JSON.stringify(reviewOf(pod)).replace(/"uid":"[^"]+"/, `"uid":"${uid}"`));
    caller.write(`${named('a')}${named('b')}${named('c').slice(0, 300)}`);
    expect((await caller.answer()).body.response.uid).toBe('a');
    expect((await caller.answer()).body.response.uid).toBe('b');
    caller.write(named('c').slice(300));
    expect((await caller.answer()).body.response.uid).toBe('c');
  });

  it.each([1, 7, 60, 100, 400])('may send pieces of %d bytes', async (size) => {
    const caller = await callerOf(await startTestServer(policy));
    const bytes = Buffer.from(post(review.replace('"name":"', '"name":"größe-名前-')));
    for (let at = 0; at < bytes.length; at += size) {
      await new Promise((resolve) => caller.socket.write(bytes.subarray(at, at + size), resolve));
    }
    expect((await caller.answer()).status).toBe(200);
  });

  it('tells the date, the length and the type', async () => {
    const caller = await callerOf(await startTestServer(policy));
    caller.write(post(review));
    const { headers } = await caller.answer();
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      connection: 'keep-alive',
    });
    expect(Math.abs(Date.parse(headers.date ?? '') - Date.now())).toBeLessThan(5_000);
  });

  it('may ask for anything else later on, and for reviews after that', async () => {
    const caller = await callerOf(await startTestServer(policy));
    caller.write(post(review));
    expect((await caller.answer()).status).toBe(200);
    caller.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect((await caller.answer()).text).toBe('ok\n');
    caller.write(post(review));
    expect((await caller.answer()).body.response.allowed).toBe(true);
  });

  it('may ask for something else while a review is under way', async () => {
    const { dataSource, release } = heldData({ data: { team: 'blue' } });
    const caller = await callerOf(await startTestServer(waiting, { dataSource }));
    caller.write(`${post(review)}GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    setTimeout(release, 50);
    expect((await caller.answer()).body.response.patch).toBeTypeOf('string');
    expect((await caller.answer()).text).toBe('ok\n');
  });

  it.each([
    ['two lengths', 'Content-Length: 3\r\n'],
    ['a length and chunks', 'Transfer-Encoding: chunked\r\n'],
    ['a header that is none', 'X Y: 1\r\n'],
  ])('is refused and closed when a request has %s', async (_what, header) => {
    const caller = await callerOf(await startTestServer(policy));
    caller.write(post(review, { header }));
    expect((await caller.answer()).status).toBe(400);
    await caller.isClosed;
  });

  it('is closed with its last answer when the server stops', async () => {
    const { dataSource, release } = heldData({ data: { team: 'blue' } });
    const running = await startTestServer(waiting, { dataSource });
    const idle = await callerOf(running);
    const caller = await callerOf(running);
    caller.write(post(review));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const stopped = running.server.stop(10_000);
    release();
    const { headers, status } = await caller.answer();
    expect([status, headers.connection]).toEqual([200, 'close']);
    await Promise.all([stopped, caller.isClosed, idle.isClosed]);
  });

  it('is closed after its answer when the server is about to stop', async () => {
    const running = await startTestServer(policy);
    const caller = await callerOf(running);
    running.server.announceStop();
    caller.write(post(review));
    expect((await caller.answer()).headers.connection).toBe('close');
    await caller.isClosed;
  });

  it('takes no harm from a caller that leaves in the middle', async () => {
    const running = await startTestServer(policy);
    for (const length of [10, 150, 400]) {
      const leaving = await callerOf(running);
      await new Promise((resolve) => leaving.socket.write(post(review).slice(0, length), resolve));
      leaving.socket.destroy();
    }
    const caller = await callerOf(running);
    caller.write(post(review));
    expect((await caller.answer()).status).toBe(200);
    expect(running.logged()).not.toContain('internal error');
  });
});

describe('a connection of a caller that wants to do harm', () => {
  it('is given up when a body does not arrive', async () => {
    const caller = await callerOf(await startReader({ bodyMilliseconds: 50 }));
    caller.write(post(review).slice(0, 400));
    expect((await caller.answer()).status).toBe(408);
    await caller.isClosed;
  });

  it('is closed when nothing happens on it', async () => {
    const caller = await callerOf(await startReader({ idleMilliseconds: 50 }));
    await caller.isClosed;
  });

  it('is read no further while answers are not taken', async () => {
    const text = 'x'.repeat(200_000);
    let asked = 0;
    const { socketOf, ...running } = await startReader({
      shortcut: (_post, reply) => {
        asked += 1;
        return { receive: () => void setImmediate(() => reply.send(200, text)) };
      },
    });
    const caller = await callerOf(running);
    caller.socket.pause();
    const requests = post(review).repeat(1_000);
    caller.write(requests);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(asked).toBeGreaterThan(0);
    expect(socketOf()?.writableLength).toBeLessThanOrEqual(2 * text.length);
    expect(socketOf()?.bytesRead).toBeLessThan(requests.length / 2);
  });
});

function post(body: string, { header = '' } = {}): string {
  return `POST /mutate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${header}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** The reader alone, over TLS. */
async function startReader(options: Partial<DirectOptions>) {
  const { ca, cert, key } = await certificate();
  const read = createDirectReader({
    shortcut: () => ({ receive: () => undefined }),
    isDraining: () => false,
    onBusy: () => undefined,
    handOver: () => undefined,
    bodyMilliseconds: 10_000,
    idleMilliseconds: 10_000,
    ...options,
  });
  let reading: TLSSocket | undefined;
  const server = createServer({ cert, key }, (socket) => {
    reading = socket;
    read(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    socketOf: () => reading,
    ca,
    url: `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
  };
}

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the answer says
  readonly body: any;
}

/** Speaks HTTP by the byte, and reads answers one after the other. */
async function callerOf({ url, ca }: { readonly url: string; readonly ca: string }) {
  const { hostname, port } = new URL(url);
  const socket = connectTls({ host: hostname, port: Number(port), ca, ALPNProtocols: ['http/1.1'] });
  sockets.push(socket);
  let received = Buffer.alloc(0);
  let wake: () => void = () => undefined;
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  const isClosed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await new Promise<void>((resolve) => socket.once('secureConnect', () => resolve()));
  const more = () =>
    Promise.race([
      new Promise<void>((resolve) => {
        wake = resolve;
      }),
      isClosed.then(() => {
        throw new Error(`closed after ${JSON.stringify(received.toString().slice(0, 300))}`);
      }),
    ]);
  const answer = async (): Promise<RawAnswer> => {
    for (;;) {
      const end = received.indexOf('\r\n\r\n');
      const [statusLine = '', ...lines] = received.subarray(0, Math.max(end, 0)).toString().split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [line.split(':', 1)[0]?.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
      );
      const bodyEnd = end + 4 + Number(headers['content-length'] ?? 0);
      if (end >= 0 && received.length >= bodyEnd) {
        const text = received.subarray(end + 4, bodyEnd).toString();
        received = received.subarray(bodyEnd);
        const body = text.startsWith('{') ? JSON.parse(text) : undefined;
        return { status: Number(statusLine.split(' ')[1]), headers, text, body };
      }
      await more();
    }
  };
  return { socket, isClosed, answer, write: (text: string) => void socket.write(text) };
}
