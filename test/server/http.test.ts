import { Agent } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  heldData,
  labelPolicy,
  patchIn,
  pod,
  policyText,
  responseIn,
  reviewOf,
  send,
  startTestServer,
} from './running-server.testing.ts';
import { makeClient, makeServing } from './self-signed.testing.ts';

const policy = labelPolicy('one', 'a: "1"');
const expected = [{ op: 'add', path: '/metadata/labels', value: { a: '1' } }];
const bytes = Buffer.from(JSON.stringify(reviewOf(pod)));

describe('a request that is not a review', () => {
  it.each([
    ['no body', '', {}, 400, 'the body is empty'],
    [
      'another content type',
      '{}',
      { 'content-type': 'text/plain' },
      415,
      'the content type must be application/json',
    ],
    [
      'a charset',
      '{}',
      { 'content-type': 'application/json; charset=utf-8' },
      415,
      'the content type must be application/json',
    ],
    ['broken JSON', '{"kind":', {}, 417, 'the body is not JSON'],
    ['another kind', '{"kind":"Pod"}', {}, 400, 'the body is not an AdmissionReview'],
    ['a list', '[]', {}, 400, 'the body is not an AdmissionReview'],
    [
      'an old version',
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}',
      {},
      400,
      'the version of the AdmissionReview is not admission.k8s.io/v1',
    ],
    [
      'no request',
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}',
      {},
      400,
      'the AdmissionReview has no request',
    ],
    [
      'no uid',
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{}}',
      {},
      400,
      'request.uid is missing',
    ],
    [
      'an unknown operation',
      '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"1","operation":"PATCH"}}',
      {},
      400,
      'request.operation is not one of CREATE, UPDATE, DELETE, CONNECT',
    ],
  ])('%s is refused with the reason', async (_name, body, headers, status, error) => {
    const server = await startTestServer(policy);
    const answer = await server.post('/mutate', body, headers as Record<string, string>);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([status, { error }]);
  });

  it.each([
    [{ kind: 'Pod' }, 'request.kind is not an object'],
    [{ kind: { group: '', version: 1, kind: 'Pod' } }, 'request.kind.version is not a string'],
    [{ resource: ['pods'] }, 'request.resource is not an object'],
    [{ resource: { resource: {} } }, 'request.resource.resource is not a string'],
    [{ namespace: 5 }, 'request.namespace is not a string'],
    [{ subResource: [] }, 'request.subResource is not a string'],
    [{ object: 'x' }, 'request.object is not an object'],
    [{ oldObject: [] }, 'request.oldObject is not an object'],
    [{ options: true }, 'request.options is not an object'],
    [{ userInfo: 'me' }, 'request.userInfo is not an object'],
    [{ userInfo: { username: {} } }, 'request.userInfo.username is not a string'],
    [{ userInfo: { groups: 'all' } }, 'request.userInfo.groups is not a list of strings'],
    [{ userInfo: { groups: [1] } }, 'request.userInfo.groups is not a list of strings'],
    [{ userInfo: { extra: [] } }, 'request.userInfo.extra is not an object'],
    [{ dryRun: 'true' }, 'request.dryRun is not a boolean'],
  ])('a request with %j is refused with the reason', async (fields, error) => {
    const server = await startTestServer(policy);
    const answer = await server.post('/mutate', JSON.stringify(reviewOf(pod, fields)));
    expect([answer.status, JSON.parse(answer.text)]).toEqual([400, { error }]);
  });

  it('fields that are null count as absent', async () => {
    const server = await startTestServer(policy);
    const absent = { oldObject: null, options: null, userInfo: null, dryRun: null, subResource: null };
    expect((await server.post('/mutate', JSON.stringify(reviewOf(pod, absent)))).status).toBe(200);
  });

  it('a body over the limit is refused', async () => {
    const server = await startTestServer(policy, { bodyLimit: 1_000 });
    expect((await server.post('/mutate', `"${'x'.repeat(2_000)}"`)).status).toBe(413);
  });

  it.each([
    ['GET', '/mutate', 405],
    ['POST', '/healthz', 405],
    ['GET', '/elsewhere', 404],
    ['POST', '/mutate/other', 404],
    ['POST', '/mutate?timeout=soon', 400],
    ['POST', '/mutate?timeout=-1s', 400],
  ])('%s %s is answered %i', async (method, path, status) => {
    const server = await startTestServer(policy);
    const { ca, url } = server;
    const answer = await send(`${url}${path}`, { ca, method, ...(method === 'POST' ? { body: bytes } : {}) });
    expect(answer.status).toBe(status);
  });

  it('with a path that cannot be read is refused in the same form as all others', async () => {
    const server = await startTestServer(policy);
    const answer = await server.get('/%ff');
    expect([answer.status, JSON.parse(answer.text)]).toEqual([400, { error: 'the path is not valid' }]);
  });

  it.each([
    ['stalls', 0],
    ['drips', 20],
  ])('whose body %s is answered 408 and its connection closed', async (_how, pause) => {
    const server = await startTestServer(policy, { requestMilliseconds: 150 });
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      let drip: NodeJS.Timeout | undefined;
      // After reading: a write to a closed connection fails, and the answer before it would be lost.
      const writeUnlessAnswered = () => setImmediate(() => text === '' && socket.write(' '));
      const socket = connectTls({ port: server.server.port, host: '127.0.0.1', ca: server.ca }, () => {
        const head = 'host: a\r\ncontent-type: application/json\r\ncontent-length: 5000';
        socket.write(`POST /mutate HTTP/1.1\r\n${head}\r\n\r\n{`);
        if (pause > 0) drip = setInterval(writeUnlessAnswered, pause);
      });
      socket.on('data', (part) => {
        text += part;
      });
      socket
        .on('error', () => undefined)
        .on('close', () => {
          clearInterval(drip);
          resolve(text);
        });
    });
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(patchIn(await server.post('/mutate', reviewOf(pod)))).toEqual(expected);
  });

  it('of any other shape neither crashes nor hangs the server', async () => {
    const server = await startTestServer(policy);
    const agent = new Agent({ keepAlive: true });
    const post = (body: Buffer) =>
      send(`${server.url}/mutate`, { ca: server.ca, method: 'POST', body, agent });
    const request = fc.record(
      {
        uid: fc.oneof(fc.string(), fc.jsonValue()),
        operation: fc.oneof(fc.constantFrom('CREATE', 'UPDATE', 'DELETE', 'CONNECT'), fc.jsonValue()),
        kind: fc.oneof(fc.constant({ group: '', version: 'v1', kind: 'Pod' }), fc.jsonValue()),
        resource: fc.jsonValue(),
        object: fc.oneof(
          fc.jsonValue(),
          fc.record({ metadata: fc.jsonValue(), spec: fc.jsonValue(), __proto__: fc.jsonValue() }),
        ),
        oldObject: fc.jsonValue(),
        userInfo: fc.jsonValue(),
        namespace: fc.jsonValue(),
        subResource: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const review = request.map((value) =>
      Buffer.from(
        JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: value }),
      ),
    );
    const anything = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 300 }).map((array) => Buffer.from(array)),
      fc.json().map((text) => Buffer.from(text)),
      review,
    );
    await fc.assert(
      fc.asyncProperty(anything, async (body) => {
        const { status } = await post(body);
        expect(status === 200 || (status >= 400 && status < 500)).toBe(true);
      }),
      { numRuns: 300 },
    );
    expect(patchIn(await post(bytes))).toEqual(expected);
    expect(server.logged()).not.toContain('internal error');
    agent.destroy();
  });

  it('deeply nested input is answered', async () => {
    const server = await startTestServer(policy);
    const depth = 20_000;
    const nested = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    const body = JSON.stringify(reviewOf(pod)).replace('"spec":', `"extra":${nested},"spec":`);
    expect((await server.post('/mutate', body)).status).toBe(200);
  });
});

describe('the protocol', () => {
  it('is HTTP/1.1 with keep-alive', async () => {
    const server = await startTestServer(policy);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    agent.on('free', (socket: TLSSocket) => ports.add(socket.localPort));
    for (let count = 0; count < 5; count += 1) {
      const answer = await send(`${server.url}/mutate`, {
        ca: server.ca,
        method: 'POST',
        body: bytes,
        agent,
      });
      expect(patchIn(answer)).toEqual(expected);
      await new Promise(setImmediate);
    }
    expect(ports.size).toBe(1);
    agent.destroy();
  });

  it('is TLS 1.2 or later', async () => {
    const server = await startTestServer(policy);
    const versionOf = (maxVersion: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3') =>
      new Promise((resolve) => {
        const socket = connectTls({
          port: server.server.port,
          host: '127.0.0.1',
          ca: server.ca,
          minVersion: 'TLSv1',
          maxVersion,
          ciphers: 'DEFAULT@SECLEVEL=0',
        });
        socket.once('secureConnect', () => {
          resolve(socket.getProtocol());
          socket.destroy();
        });
        socket.once('error', () => resolve('refused'));
      });
    expect(await Promise.all([versionOf('TLSv1.1'), versionOf('TLSv1.2'), versionOf('TLSv1.3')])).toEqual([
      'refused',
      'TLSv1.2',
      'TLSv1.3',
    ]);
  });

  const json = 'Host: a\r\nContent-Type: application/json\r\n';
  const whole = `Content-Length: ${bytes.length}\r\n\r\n${bytes}`;
  const review = `POST /mutate HTTP/1.1\r\n${json}${whole}`;

  it.each([
    [
      'a length and chunks',
      `POST /mutate HTTP/1.1\r\n${json}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${review}`,
      [400],
    ],
    [
      'chunks and a length',
      `POST /mutate HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${review}`,
      [400],
    ],
    ['two lengths', `POST /mutate HTTP/1.1\r\n${json}Content-Length: 5\r\n${whole}`, [400]],
    [
      'an unknown transfer coding',
      `POST /mutate HTTP/1.1\r\n${json}Transfer-Encoding: xchunked\r\n\r\n${bytes}`,
      [400],
    ],
    ['a folded header', `POST /mutate HTTP/1.1\r\n${json}X: a\r\n b\r\n${whole}`, [400]],
    ['a space before the colon', `POST /mutate HTTP/1.1\r\n${json}Content-Length : 5\r\n\r\nhello`, [400]],
    ['line feeds only', review.replaceAll('\r\n', '\n'), [400]],
    ['no host', review.replace('Host: a\r\n', ''), [400]],
    [
      'a chunk of more than 64 bits',
      `POST /mutate HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n${'f'.repeat(17)}\r\n`,
      [400],
    ],
    [
      'an endless chunk extension',
      `POST /mutate HTTP/1.1\r\n${json}Transfer-Encoding: chunked\r\n\r\n5;${'x'.repeat(20_000)}`,
      [400],
    ],
    [
      'three reviews at once',
      review.repeat(2) + review.replace('\r\n', '\r\nConnection: close\r\n'),
      [200, 200, 200],
    ],
  ])('is read in one way only: %s', async (_, text, statuses) => {
    const { url, ca } = await startTestServer(policy);
    const answer = await new Promise<string>((resolve, reject) => {
      let received = '';
      const socket = connectTls({ port: Number(new URL(url).port), host: '127.0.0.1', ca }, () => {
        socket.write(text);
      });
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(received));
    });
    const found = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
    expect(found).toEqual(statuses);
  });

  it('survives callers that speak no TLS, or stop in the middle', async () => {
    const server = await startTestServer(policy);
    await new Promise<void>((resolve) => {
      const socket = connectTcp(server.server.port, '127.0.0.1', () => socket.end('GET / HTTP/1.1\r\n\r\n'));
      socket.on('error', () => undefined).on('close', () => resolve());
    });
    await new Promise<void>((resolve) => {
      const socket = connectTls({ port: server.server.port, host: '127.0.0.1', ca: server.ca }, () => {
        socket.write(
          'POST /mutate HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{',
        );
        setTimeout(() => socket.destroy(), 50);
      });
      socket.on('close', () => resolve());
    });
    expect(patchIn(await server.post('/mutate', reviewOf(pod)))).toEqual(expected);
  });

  it('requires a client certificate if an authority is given, but not for health', async () => {
    const client = await makeClient('client');
    const stranger = await makeClient('stranger');
    const server = await startTestServer(policy, { clientCa: client.cert });
    const post = (own: { cert: string; key: string } | undefined) =>
      send(`${server.url}/mutate`, { ca: server.ca, method: 'POST', body: bytes, ...own });
    expect((await post(undefined)).status).toBe(403);
    expect((await post({ cert: stranger.cert, key: stranger.key })).status).toBe(403);
    expect(patchIn(await post({ cert: client.cert, key: client.key }))).toEqual(expected);
    expect((await server.get('/healthz')).status).toBe(200);
  });

  it('takes a new certificate without dropping a connection', async () => {
    const server = await startTestServer(policy);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const post = (ca: string, use?: Agent) =>
      send(`${server.url}/mutate`, { ca, method: 'POST', body: bytes, ...(use ? { agent: use } : {}) });
    let socket: TLSSocket | undefined;
    agent.on('free', (free: TLSSocket) => {
      socket ??= free;
    });
    await post(server.ca, agent);
    const renewed = await makeServing(['127.0.0.1'], 30);
    server.server.setCertificate(renewed);
    expect(patchIn(await post(server.ca, agent))).toEqual(expected);
    expect(socket?.destroyed).toBe(false);
    expect(patchIn(await post(renewed.ca))).toEqual(expected);
    await expect(post(server.ca)).rejects.toThrow();
    expect((await send(`${server.url}/metrics`, { ca: renewed.ca, method: 'GET' })).text).toMatch(
      /kymera_certificate_expiry_timestamp_seconds \d+/,
    );
    agent.destroy();
  });
});

describe('a server that stops', () => {
  it('is not ready after the announcement, but answers until it stops, with Connection: close', async () => {
    const server = await startTestServer(policy);
    expect((await server.get('/readyz')).status).toBe(200);
    server.server.announceStop();
    expect((await server.get('/readyz')).status).toBe(503);
    const agent = new Agent({ keepAlive: true });
    const answer = await send(`${server.url}/mutate`, { ca: server.ca, method: 'POST', body: bytes, agent });
    expect(patchIn(answer)).toEqual(expected);
    expect(answer.headers['connection']).toBe('close');
    await server.server.stop(1_000);
    await expect(server.post('/mutate', reviewOf(pod))).rejects.toThrow();
    agent.destroy();
  });

  it('is not ready, answers what is in flight, and takes no more', async () => {
    const { dataSource, asked, release } = heldData({ data: { team: 'blue' } });
    const reading = policyText(
      'waiting',
      `context: [{name: cm, configMap: {name: settings, namespace: shop}}]
    mutate: {patchStrategicMerge: {metadata: {labels: {team: "{{ cm.data.team }}"}}}}`,
    );
    const server = await startTestServer(reading, { dataSource, metricsPort: 0 });
    const agent = new Agent({ keepAlive: true });
    const kept = { ca: server.ca, method: 'POST', body: bytes, agent };
    const inFlight = [server.post('/mutate', reviewOf(pod)), send(`${server.url}/mutate`, kept)];
    await expect.poll(asked).toBe(2);
    const stopped = server.server.stop(5_000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const ready = await fetch(`http://127.0.0.1:${server.server.metricsPort}/readyz?verbose`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('stopping')]);
    await expect(server.post('/mutate', reviewOf(pod))).rejects.toThrow();
    release();
    for (const answer of await Promise.all(inFlight)) {
      expect(responseIn(answer).allowed).toBe(true);
      expect(patchIn(answer)).toEqual([{ op: 'add', path: '/metadata/labels', value: { team: 'blue' } }]);
    }
    await stopped;
    agent.destroy();
  });

  it('does not wait for idle connections', async () => {
    const server = await startTestServer(policy);
    const agent = new Agent({ keepAlive: true });
    await send(`${server.url}/mutate`, { ca: server.ca, method: 'POST', body: bytes, agent });
    const unused = connectTls({ port: server.server.port, host: '127.0.0.1', ca: server.ca });
    await new Promise((resolve) => unused.once('secureConnect', resolve));
    unused.on('error', () => undefined);
    // Longer than the test may take.
    await server.server.stop(600_000);
    agent.destroy();
    unused.destroy();
  });
});
