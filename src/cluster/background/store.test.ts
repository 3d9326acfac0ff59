import { describe, expect, it } from 'vitest';
import { parseJson, stringifyJson } from '../../json/json-text.ts';
import type { JsonObject } from '../../json/value.ts';
import { createClient } from '../api/client.ts';
import { smallCluster } from '../api/served-kinds.testing.ts';
import type { HttpRequest, Transport } from '../api/transport.ts';
import { createClusterStore } from './store.ts';

/** A store, and the requests that it sends. */
function world(status = 200, answer = '{"kind":"Status"}') {
  const sent: HttpRequest[] = [];
  const transport = {
    async send(request: HttpRequest) {
      sent.push(request);
      return { status, body: answer, contentType: 'application/json' };
    },
    close: () => {},
  } as unknown as Transport;
  return { sent, store: createClusterStore(createClient(transport), () => smallCluster) };
}

const text =
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","resourceVersion":"7"},"data":{"n":9007199254740993,"f":1.5}}';
const before = parseJson(text) as JsonObject;

describe('an update', () => {
  it('sends only what changes, guarded by the resourceVersion', async () => {
    const { sent, store } = world();
    await store.update(before, {
      ...before,
      metadata: { ...(before['metadata'] as JsonObject), labels: { a: 'b' } },
    });
    expect(sent).toMatchObject([
      {
        method: 'PATCH',
        path: '/api/v1/namespaces/ns/configmaps/a?fieldManager=kymera-background',
        headers: { 'content-type': 'application/json-patch+json' },
      },
    ]);
    expect(JSON.parse(String(sent[0]?.body))).toEqual([
      { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
      { op: 'add', path: '/metadata/labels', value: { a: 'b' } },
    ]);
  });

  it('writes the digits of large integers', async () => {
    const { sent, store } = world();
    const data = before['data'] as JsonObject;
    await store.update(before, { ...before, data: { ...data, copy: data['n'] ?? null } });
    expect(String(sent[0]?.body)).toContain('{"op":"add","path":"/data/copy","value":9007199254740993}');
    expect(stringifyJson(before)).toBe(text);
  });

  it('of a subresource goes to the subresource', async () => {
    const { sent, store } = world();
    const scale: JsonObject = {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'web', namespace: 'ns', resourceVersion: '3' },
      spec: { replicas: 1 },
    };
    const ref = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespace: 'ns',
      name: 'web',
      subresource: 'scale',
    };
    await store.update(scale, { ...scale, spec: { replicas: 2 } }, ref);
    expect(sent[0]?.path).toBe(
      '/apis/apps/v1/namespaces/ns/deployments/web/scale?fieldManager=kymera-background',
    );
  });

  it('of an object that has changed is a conflict', async () => {
    const { store } = world(409, '{"kind":"Status","reason":"Conflict","message":"changed"}');
    await expect(store.update(before, { ...before, data: {} })).rejects.toMatchObject({ reason: 'conflict' });
  });
});

it('a list in a namespace contains no cluster-scoped objects', async () => {
  const { sent, store } = world(200, '{"kind":"List","metadata":{},"items":[]}');
  await store.list({ apiVersion: 'v1', kind: '*', namespace: 'ns' });
  expect(sent.length).toBeGreaterThan(0);
  expect(sent.filter(({ path }) => !path.includes('/namespaces/ns/'))).toEqual([]);
});

it.each(['', '.', '..', '../x', '%2e%2e'])('no request is sent for an object named %j', async (name) => {
  const { sent, store } = world();
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name };
  for (const call of [
    () => store.get(ref),
    () => store.remove(ref),
    () => store.update(before, before, ref),
  ]) {
    await expect(call()).rejects.toMatchObject({ reason: 'invalid' });
  }
  expect(sent).toEqual([]);
});
