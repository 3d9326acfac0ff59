import { expect, it } from 'vitest';
import { stringifyJson } from '../../src/json/json-text.ts';
import type { JsonObject } from '../../src/json/value.ts';
import {
  labelPolicy,
  pod,
  reviewOf,
  send,
  startTestServer,
  type TestServer,
} from './running-server.testing.ts';

const liveToken = 'a-token-that-nobody-guesses';
const policies = `${labelPolicy('labels', 'team: web')}${labelPolicy('secrets', 'team: web', { kinds: 'Secret' })}`;

function read({ url, ca }: TestServer, path: string, token: string | undefined = liveToken) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return send(`${url}${path}`, { ca, method: 'GET', headers });
}

it('is off by default', async () => {
  const server = await startTestServer(policies, { keepDecisions: 10 });
  expect((await read(server, '/live')).status).toBe(404);
  await server.post('/mutate', reviewOf(pod));
  const [decision] = JSON.parse((await server.get('/debug/decisions')).text);
  expect(decision).toMatchObject({ name: 'web' });
  expect(decision.request).toBeUndefined();
});

it.each([
  ['no token', undefined],
  ['an empty token', ''],
  ['another token', 'another-token-of-the-same-len'],
  ['a part of the token', liveToken.slice(0, -1)],
])('refuses %s', async (_, token) => {
  const server = await startTestServer(policies, { keepDecisions: 10, liveToken });
  for (const path of ['/live', '/live/decisions/x', '/%6cive']) {
    const answer = await read(server, path, token ?? '');
    expect(answer.status).toBe(401);
    expect(answer.text).not.toContain('labels');
  }
  expect((await server.get('/live')).status).toBe(401);
});

it('shows policies, totals and decisions', async () => {
  const server = await startTestServer(policies, { keepDecisions: 10, liveToken });
  await server.post('/mutate', reviewOf(pod));
  const state = JSON.parse((await read(server, '/live')).text);
  expect(state).toMatchObject({
    ready: true,
    policies: [
      { key: 'labels', kind: 'ClusterPolicy', mode: 'enforce', rules: 1 },
      { key: 'secrets', kind: 'ClusterPolicy', mode: 'enforce', rules: 1 },
    ],
    metrics: { allowed: 1, denied: 0, durations: { '+Inf': 1 } },
    decisions: [{ kind: 'Pod', name: 'web', allowed: true, canOpen: true }],
  });
  expect(state.decisions[0].request).toBeUndefined();
});

it('says that decisions are not kept', async () => {
  const server = await startTestServer(policies, { liveToken });
  await server.post('/mutate', reviewOf(pod));
  expect(JSON.parse((await read(server, '/live')).text).decisions).toBeNull();
  expect((await read(server, '/live/decisions/x')).status).toBe(404);
});

it('opens a decision with its request and its policies', async () => {
  const server = await startTestServer(policies, { keepDecisions: 10, liveToken });
  const review = reviewOf(pod, { uid: 'one' });
  await server.post('/mutate', review);
  const opened = JSON.parse((await read(server, '/live/decisions/one')).text);
  expect(opened).toMatchObject({
    request: { operation: 'CREATE', object: pod, oldObject: null, username: 'jane' },
    policies: [{ key: 'labels', document: { kind: 'ClusterPolicy' } }],
  });
  expect((await read(server, '/live/decisions/two')).status).toBe(404);
});

it('masks Secrets', async () => {
  const server = await startTestServer(policies, { keepDecisions: 10, liveToken });
  const secret: JsonObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'shop' },
    stringData: { password: 'correct-horse' },
  };
  await server.post('/mutate', reviewOf(secret, { uid: 's', operation: 'UPDATE', oldObject: secret }));
  const texts = [await read(server, '/live'), await read(server, '/live/decisions/s')].map(
    ({ text }) => text,
  );
  expect(texts.join()).not.toContain('correct-horse');
  expect(JSON.parse(texts[1] ?? '').request.object.stringData).toEqual({ password: '***' });
});

it('keeps no large requests, and few bytes of all', async () => {
  const server = await startTestServer(policies, { keepDecisions: 1_000, liveToken });
  const podOf = (size: number) => ({
    ...pod,
    metadata: { name: 'web', annotations: { big: 'x'.repeat(size) } },
  });
  await server.post('/mutate', reviewOf(podOf(300_000)));
  const tooLarge = JSON.parse((await read(server, '/live')).text);
  expect(tooLarge.decisions.map(({ canOpen }: { canOpen: boolean }) => canOpen)).toEqual([false]);
  for (let count = 0; count < 80; count++) await server.post('/mutate', reviewOf(podOf(250_000)));
  const kept = server.server.decisions();
  expect(kept.length).toBeLessThan(80);
  expect(stringifyJson(kept as unknown as JsonObject[]).length).toBeLessThan(40 * 1024 * 1024);
});
