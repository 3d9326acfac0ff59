import { PassThrough } from 'node:stream';
import { afterEach, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient, ObjectList } from './client.ts';
import { ApiError } from './cluster-error.ts';
import { startInformer } from './informer.ts';
import { resourceTypes } from './resource-path.ts';

const configMap = (name: string, resourceVersion: string): JsonObject => ({
  metadata: { namespace: 'a', name, resourceVersion },
});

/** A client that may list and not watch. Resolves `listed` after this many lists. */
function listing(lists: readonly (readonly JsonObject[])[]) {
  let count = 0;
  let end = () => {};
  const listed = new Promise<void>((resolve) => {
    end = resolve;
  });
  const client = {
    list: async (): Promise<ObjectList> => {
      const items = lists[count] ?? [];
      count += 1;
      if (count > lists.length) end();
      return { items, resourceVersion: String(count) };
    },
    watch: () => Promise.reject(new ApiError(403, 'Forbidden', 'may not watch')),
  } as unknown as ApiClient;
  return { client, listed };
}

it('objects that may not be watched are listed periodically, and this is reported once', async () => {
  const { client, listed } = listing([
    [configMap('x', '1'), configMap('y', '1')],
    [configMap('x', '2'), configMap('y', '1')],
    [configMap('y', '1')],
    [configMap('y', '1')],
  ]);
  const seen: string[] = [];
  const reports: unknown[] = [];
  const informer = startInformer({
    client,
    type: resourceTypes.configMaps,
    kind: 'ConfigMap',
    onChange: ({ key, object, previous }) =>
      seen.push(`${key} ${previous === undefined ? 'added' : object === undefined ? 'deleted' : 'changed'}`),
    onError: (error) => reports.push(['error', error]),
    pollMs: 1,
    onPoll: (error) => reports.push(String(error)),
  });
  await listed;
  await informer.stop();
  expect(seen).toEqual(['a/x added', 'a/y added', 'a/x changed', 'a/x deleted', 'a/y deleted']);
  expect(reports).toEqual(['ApiError: may not watch']);
});

it('without polling, a refused watch is an error', async () => {
  const { client } = listing([[configMap('x', '1')]]);
  const failed = new Promise((resolve) => {
    const informer = startInformer({
      client,
      type: resourceTypes.configMaps,
      kind: 'ConfigMap',
      onError: (error) => void informer.stop().then(() => resolve(error)),
    });
  });
  expect(await failed).toMatchObject({ status: 403 });
});

afterEach(() => {
  vi.restoreAllMocks();
});

it('lists again after a watch without any message: etcd was restored, and versions are used again', async () => {
  let ahead = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead);
  const lists: ObjectList[] = [
    { items: [{ ...configMap('x', '7'), data: { a: 'new' } }, configMap('y', '9')], resourceVersion: '9' },
    { items: [{ ...configMap('x', '7'), data: { a: 'old' } }], resourceVersion: '8' },
  ];
  const streams: PassThrough[] = [];
  const client = {
    list: async () => lists.shift() ?? { items: [], resourceVersion: '1' },
    watch: async () => {
      const stream = new PassThrough();
      streams.push(stream);
      return stream;
    },
  } as unknown as ApiClient;
  const seen: string[] = [];
  const informer = startInformer({
    client,
    type: resourceTypes.configMaps,
    kind: 'ConfigMap',
    onChange: ({ key, object }) => seen.push(`${key} ${JSON.stringify(object?.['data'] ?? null)}`),
    timing: { backOff: { firstMs: 1, lastMs: 1 } },
  });
  await vi.waitFor(() => expect(streams).toHaveLength(1));
  ahead += 41_000;
  streams[0]?.end();
  await vi.waitFor(() => expect(streams).toHaveLength(2));
  // A watch with a message ends as usual.
  streams[1]?.write(`${JSON.stringify({ type: 'BOOKMARK', object: configMap('', '8') })}\n`);
  ahead += 41_000;
  streams[1]?.end();
  await vi.waitFor(() => expect(streams).toHaveLength(3));
  const stopped = informer.stop();
  streams[2]?.destroy();
  await stopped;
  expect(seen).toEqual(['a/x {"a":"new"}', 'a/y null', 'a/y null', 'a/x {"a":"old"}']);
  expect(lists).toEqual([]);
});

it.each([
  ['cannot start', () => Promise.reject(new Error('connection refused'))],
  ['is refused because its version is gone', () => Promise.reject(new ApiError(410, 'Expired', 'too old'))],
  ['breaks off', async () => new PassThrough().destroy(new Error('aborted'))],
])(
  'lists again when a watch %s: etcd may have been restored, and be ahead of us again',
  async (_title, fail) => {
    const lists: ObjectList[] = [
      { items: [{ ...configMap('x', '7'), data: { a: 'new' } }, configMap('y', '9')], resourceVersion: '9' },
      { items: [{ ...configMap('x', '7'), data: { a: 'old' } }], resourceVersion: '20' },
    ];
    const versions: unknown[] = [];
    const streams: PassThrough[] = [];
    let watches = 0;
    const client = {
      list: async (_type: unknown, query: { readonly resourceVersion?: string }) => {
        versions.push(query.resourceVersion);
        return lists.shift() ?? { items: [], resourceVersion: '1' };
      },
      watch: async () => {
        watches += 1;
        if (watches === 2) return fail();
        const stream = new PassThrough();
        streams.push(stream);
        return stream;
      },
    } as unknown as ApiClient;
    const seen: string[] = [];
    const informer = startInformer({
      client,
      type: resourceTypes.configMaps,
      kind: 'ConfigMap',
      onChange: ({ key, object }) => seen.push(`${key} ${JSON.stringify(object?.['data'] ?? null)}`),
      timing: { backOff: { firstMs: 1, lastMs: 1 } },
    });
    await vi.waitFor(() => expect(streams).toHaveLength(1));
    // A watch that ends as it should goes on where it was.
    streams[0]?.end();
    await vi.waitFor(() => expect(streams).toHaveLength(2));
    const stopped = informer.stop();
    streams[1]?.destroy();
    await stopped;
    expect(seen).toEqual(['a/x {"a":"new"}', 'a/y null', 'a/y null', 'a/x {"a":"old"}']);
    // The second list is read from etcd.
    expect(versions).toEqual(['0', undefined]);
  },
);
