import { Agent, request as httpsRequest } from 'node:https';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/json/value.ts';
import type { PolicyScope } from '../../src/server/reviews/routes.ts';
import {
  type Answer,
  heldData,
  labelPolicy,
  pod,
  policyText,
  responseIn,
  reviewOf,
  send,
  startTestServer,
  type TestServer,
} from './running-server.testing.ts';

const policy = labelPolicy('one', 'a: "1"');
const namespaced = labelPolicy('two', 'b: "1"')
  .replace('ClusterPolicy', 'Policy')
  .replace('name: two', 'name: two\n  namespace: shop');
const review = JSON.stringify(reviewOf(pod));

const otherWebhooks = {
  policyvalidate: async (_body: Json, scope: PolicyScope, milliseconds: number, path: string) =>
    JSON.stringify({ scope, milliseconds, path }),
  validate: async (_body: Json, scope: PolicyScope, milliseconds: number, path: string) =>
    JSON.stringify({ scope, milliseconds, path }),
};

/** The same requests with and without Content-Length, on kept and on single-use connections. */
const transports: readonly [string, (server: TestServer, path: string, body: Buffer) => Promise<Answer>][] = [
  ['kept alive', overHttp({ hasLength: true, isKept: true })],
  ['with Content-Length', overHttp({ hasLength: true, isKept: false })],
  ['in chunks', overHttp({ hasLength: false, isKept: false })],
];

describe.each(transports)('%s', (_name, post) => {
  it.each([
    ['a review', '/mutate', review, 200],
    ['a review for a failure policy', '/mutate/ignore', review, 200],
    ['a review with a timeout', '/mutate?timeout=10s', review, 200],
    ['text of every length', '/mutate/fail', review.replace('"name":"', '"name":"größe-名前-'), 200],
    ['a review for one policy', '/mutate/fail/finegrained/one', review, 200],
    ['a review for a policy of a namespace', '/mutate/ignore/finegrained/shop/two', review, 200],
    ['a review for a policy that was deleted', '/mutate/fail/finegrained/gone', review, 200],
    ['a review of another webhook', '/policyvalidate?timeout=5s', review, 200],
    ['no body', '/mutate', '', 400],
    ['no JSON for another webhook', '/policyvalidate', '{', 417],
    ['no JSON', '/mutate', '{"kind":', 417],
    ['no review', '/mutate', '{"kind":"Pod"}', 400],
    ['no duration', '/mutate?timeout=soon', review, 400],
    ['no time', '/mutate?timeout=0s', review, 400],
    ['an unknown path', '/mutate/other', review, 404],
    ['a body over the limit', '/mutate', `"${'x'.repeat(70_000)}"`, 413],
  ])('%s is answered, counted and logged', async (_what, path, body, status) => {
    const server = await startTestServer(`${policy}\n${namespaced}`, { bodyLimit: 65_536, otherWebhooks });
    const answer = await post(server, path, Buffer.from(body));
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toMatchObject(
      status !== 200
        ? { error: expect.any(String) }
        : path.startsWith('/mutate')
          ? { response: { uid: '5d1b0c1e-0000-4000-8000-000000000001' } }
          : {
              scope: { set: 'all' },
              milliseconds: expect.toSatisfy((left: number) => left > 0 && left <= 4_500),
              path: '/policyvalidate',
            },
    );
    const route = status === 404 ? 'unknown' : routeOf(path);
    const { text } = await server.get('/metrics');
    const counted = `kyverno_http_requests_total{http_method="POST",http_url="${route}",http_status="${status}"} 1`;
    expect(text).toContain(counted);
    const lines = server.logged().split('\n').filter(Boolean);
    const isLogged = status !== 200 || !path.startsWith('/policyvalidate');
    expect(lines.map((line) => JSON.parse(line).path)).toEqual(isLogged ? [path.split('?')[0]] : []);
  });

  it('a body that comes in many pieces is put together', async () => {
    const server = await startTestServer(policy);
    const long = review.replace('"spec":', `"extra":"${'é'.repeat(400_000)}","spec":`);
    expect(responseIn(await post(server, '/mutate', Buffer.from(long))).allowed).toBe(true);
  });
});

describe('the route table', () => {
  it.each([
    ['/validate', { set: 'all' }],
    ['/validate/ignore', { set: 'ignore' }],
    ['/validate/fail', { set: 'fail' }],
    ['/validate/fail/finegrained/one', { set: 'fail', policy: 'one' }],
    ['/validate/ignore/finegrained/shop/two', { set: 'ignore', policy: 'shop/two' }],
    ['/validate/fail/finegrained/shop/two/three', undefined],
    ['/validate/fail/finegrained', undefined],
    ['/validate/other', undefined],
    ['/policyvalidate/fail', undefined],
  ])('%s selects %j', async (path, scope) => {
    const server = await startTestServer(policy, { otherWebhooks });
    const { status, text } = await server.post(path, review);
    expect(status === 200 ? JSON.parse(text).scope : undefined).toEqual(scope);
    expect(status).toBe(scope === undefined ? 404 : 200);
  });

  it('finds a policy by the longest name that Kubernetes allows', async () => {
    const name = 'n'.repeat(253);
    const server = await startTestServer(policy, { otherWebhooks });
    const { status, text } = await server.post(`/validate/fail/finegrained/${name}`, review);
    expect([status, JSON.parse(text).scope]).toEqual([200, { set: 'fail', policy: name }]);
  });

  it('refuses other methods', async () => {
    const server = await startTestServer(policy, { otherWebhooks });
    for (const path of ['/mutate', '/mutate/fail', '/validate/fail/finegrained/one', '/policyvalidate'])
      expect((await server.get(path)).status).toBe(405);
  });

  it('has no webhooks that are not given', async () => {
    const server = await startTestServer(policy);
    expect((await server.post('/validate', review)).status).toBe(404);
    expect((await server.post('/policyvalidate', review)).status).toBe(404);
  });
});

it.each([200, 400])('an answer with %i is ASCII, whatever names contain', async (status) => {
  const server = await startTestServer(policy);
  const uid = 'größe-名前-🐎';
  const request = { uid, ...(status === 400 ? { operation: 'größe' } : {}) };
  const answer = await server.post('/mutate', JSON.stringify(reviewOf(pod, request)));
  expect(answer.status).toBe(status);
  expect(answer.text).toMatch(/^[\x20-\x7e]*$/);
  if (status === 200) expect(responseIn(answer).uid).toBe(uid);
});

describe('reviews that arrive together', () => {
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

function overHttp({ hasLength, isKept }: { readonly hasLength: boolean; readonly isKept: boolean }) {
  return async ({ ca, url }: TestServer, path: string, body: Buffer): Promise<Answer> => {
    const headers = hasLength
      ? { 'content-length': String(body.length) }
      : { 'transfer-encoding': 'chunked' };
    const agent = new Agent({ keepAlive: isKept });
    const answer = await send(`${url}${path}`, { ca, method: 'POST', body, headers, agent });
    agent.destroy();
    return answer;
  };
}
