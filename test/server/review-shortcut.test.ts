import { Agent, request as httpsRequest } from 'node:https';
import { describe, expect, it } from 'vitest';
import {
  connect,
  heldData,
  labelPolicy,
  pod,
  policyText,
  responseIn,
  reviewOf,
  send,
  startTestServer,
  type TestServer,
} from './running-server.ts';

const policy = labelPolicy('one', 'a: "1"');
const namespaced = labelPolicy('two', 'b: "1"')
  .replace('ClusterPolicy', 'Policy')
  .replace('name: two', 'name: two\n  namespace: shop');
const review = JSON.stringify(reviewOf(pod));

interface Told {
  readonly status: number;
  readonly text: string;
}

/** Requests whose length is told are answered past the framework, on connections that are kept past Node's HTTP, all others by its routes: nobody is to notice. */
const ways: readonly [string, (server: TestServer, path: string, body: Buffer) => Promise<Told>][] = [
  ['HTTP/1.1, kept alive', overHttp1({ isLengthTold: true, isKept: true })],
  ['HTTP/1.1, length told', overHttp1({ isLengthTold: true, isKept: false })],
  ['HTTP/1.1, in chunks', overHttp1({ isLengthTold: false, isKept: false })],
  ['HTTP/2, length told', overHttp2({ isLengthTold: true })],
  ['HTTP/2, no length', overHttp2({ isLengthTold: false })],
];

describe.each(ways)('over %s', (_name, post) => {
  it.each([
    ['a review', '/mutate', review, 200],
    ['a review for a failure policy', '/mutate/ignore', review, 200],
    ['a review with a timeout', '/mutate?timeout=10s', review, 200],
    ['text of every length', '/mutate/fail', review.replace('"name":"', '"name":"größe-名前-'), 200],
    ['a review for one policy', '/mutate/fail/finegrained/one', review, 200],
    ['a review for a policy of a namespace', '/mutate/ignore/finegrained/shop/two', review, 200],
    ['a review for a policy that is gone', '/mutate/fail/finegrained/gone', review, 200],
    ['a review of another webhook', '/policyvalidate?timeout=5s', review, 200],
    ['no body', '/mutate', '', 400],
    ['no JSON for another webhook', '/policyvalidate', '{', 417],
    ['no JSON', '/mutate', '{"kind":', 417],
    ['no review', '/mutate', '{"kind":"Pod"}', 400],
    ['no duration', '/mutate?timeout=soon', review, 400],
    ['no time', '/mutate?timeout=0s', review, 400],
    ['an unknown path', '/mutate/other', review, 404],
    ['too much', '/mutate', `"${'x'.repeat(70_000)}"`, 413],
  ])('%s is answered, counted and logged alike', async (_what, path, body, status) => {
    const server = await startTestServer(`${policy}\n${namespaced}`, {
      bodyLimit: 65_536,
      otherWebhooks: new Map([
        ['/policyvalidate', async (_body, milliseconds, path) => ({ milliseconds, path })],
      ]),
    });
    const answer = await post(server, path, Buffer.from(body));
    const expected = await send(`${server.url}${path}`, {
      ca: server.ca,
      method: 'POST',
      body: Buffer.from(body),
      headers: { 'transfer-encoding': 'chunked' },
    });
    expect([answer.status, answer.text]).toEqual([status, expected.text]);
    const route = status === 404 ? 'unknown' : routeOf(path);
    const { text } = await server.get('/metrics');
    const counted = `kyverno_http_requests_total{http_method="POST",http_url="${route}",http_status="${status}"} 2`;
    expect(text).toContain(counted);
    const lines = server.logged().split('\n').filter(Boolean);
    const [first, second] = lines.map((line) => ({ ...JSON.parse(line), time: '', µs: 0 }));
    const isTold = status !== 200 || !path.startsWith('/policyvalidate');
    expect([lines.length, first]).toEqual([isTold ? 2 : 0, second]);
  });

  it('a body that comes in many pieces is put together', async () => {
    const server = await startTestServer(policy);
    const long = review.replace('"spec":', `"extra":"${'é'.repeat(400_000)}","spec":`);
    expect(responseIn({ ...(await post(server, '/mutate', Buffer.from(long))), headers: {} }).allowed).toBe(
      true,
    );
  });
});

describe('reviews that come in together', () => {
  it('do not wait for one whose data takes long', async () => {
    const { dataSource, release } = heldData({ data: { team: 'blue' } });
    const waiting = policyText(
      'waiting',
      `context: [{name: cm, configMap: {name: settings, namespace: shop}}]
    preconditions: {all: [{key: "{{ request.object.metadata.name }}", operator: Equals, value: slow}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {team: "{{ cm.data.team }}"}}}}`,
    );
    const server = await startTestServer(waiting, { dataSource });
    const named = (name: string) => reviewOf({ ...pod, metadata: { name, namespace: 'shop' } });
    const late = server.post('/mutate', named('slow'));
    const quick = await Promise.all([1, 2, 3].map((n) => server.post('/mutate', named(`quick-${n}`))));
    expect(quick.map(({ status }) => status)).toEqual([200, 200, 200]);
    release();
    expect(responseIn(await late).patch).toBeTypeOf('string');
  });

  it('are dropped without harm when their callers leave', async () => {
    const server = await startTestServer(policy);
    const agent = new Agent({ keepAlive: true });
    for (let count = 0; count < 20; count += 1) {
      const leaving = httpsRequest(`${server.url}/mutate`, {
        agent,
        ca: server.ca,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': review.length + (count % 2) },
      });
      leaving.on('error', () => undefined);
      leaving.write(review, () => leaving.destroy());
    }
    const answer = await server.post('/mutate', reviewOf(pod));
    expect(answer.status).toBe(200);
    expect(server.logged()).not.toContain('internal error');
    agent.destroy();
  });
});

function routeOf(path: string): string {
  return path
    .replace(/\?.*/, '')
    .replace(/finegrained\/\w+$/, 'finegrained/:policy')
    .replace(/finegrained\/\w+\/\w+$/, 'finegrained/:namespace/:policy');
}

function overHttp1({ isLengthTold, isKept }: { readonly isLengthTold: boolean; readonly isKept: boolean }) {
  return async ({ ca, url }: TestServer, path: string, body: Buffer): Promise<Told> => {
    const headers = isLengthTold
      ? { 'content-length': String(body.length) }
      : { 'transfer-encoding': 'chunked' };
    const agent = new Agent({ keepAlive: isKept });
    const told = await send(`${url}${path}`, { ca, method: 'POST', body, headers, agent });
    agent.destroy();
    return told;
  };
}

function overHttp2({ isLengthTold }: { readonly isLengthTold: boolean }) {
  return ({ ca, url }: TestServer, path: string, body: Buffer): Promise<Told> =>
    new Promise((resolve, reject) => {
      const session = connect(url, { ca });
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/json',
        ...(isLengthTold ? { 'content-length': body.length } : {}),
      });
      let status = 0;
      let text = '';
      stream.on('response', (headers) => {
        status = Number(headers[':status']);
      });
      stream.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      stream.on('end', () => {
        session.close();
        resolve({ status, text });
      });
      stream.on('error', reject);
      stream.end(body);
    });
}
