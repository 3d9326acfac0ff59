import { describe, expect, it } from 'vitest';
import type { DataAnswer } from '../../engine/context/data-source.ts';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { createOpenApiDocuments } from './openapi-documents.ts';

const limits = { timeoutMs: 1_000, maxBytes: 1_000_000 };
const documentOf = (...kinds: readonly string[]): JsonObject => ({
  components: {
    schemas: Object.fromEntries(
      kinds.map((kind) => [
        kind,
        { 'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind }] },
      ]),
    ),
  },
});

/** An API server that publishes one document, and a clock. */
function publisher() {
  const state = { hash: 'a', document: documentOf('Thing'), isDown: false, isPublished: true };
  const asked: string[] = [];
  let time = 0;
  const client = {
    raw: async ({ path = '' }: { path?: string }) => {
      asked.push(path);
      if (state.isDown) throw new Error('the connection was refused');
      const paths = state.isPublished
        ? {
            'apis/example.com/v1': {
              serverRelativeURL: `/openapi/v3/apis/example.com/v1?hash=${state.hash}`,
            },
          }
        : {};
      // As the API server does: the list is declared as text.
      if (path === '/openapi/v3') return { status: 200, body: JSON.stringify({ paths }) };
      return { status: 200, body: state.document };
    },
  } as unknown as ApiClient;
  const documents = createOpenApiDocuments(client, { now: () => time, listLifeMs: 10_000, retryMs: 1_000 });
  return {
    state,
    asked,
    documents,
    wait: (milliseconds: number) => {
      time += milliseconds;
    },
    read: (kind = 'Thing'): DataAnswer | Promise<DataAnswer> =>
      documents.read('example.com/v1', kind, limits),
  };
}

/** All requests that were started have ended. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('OpenAPI documents of the API server', () => {
  it('are read once, and the same object is returned while it is valid', async () => {
    const { asked, read, wait } = publisher();
    const first = await read();
    wait(9_000);
    const second = read();
    expect(second).not.toBeInstanceOf(Promise);
    expect(first).toMatchObject({ found: true });
    expect((second as { value: unknown }).value).toBe((first as { value: unknown }).value);
    wait(2_000);
    // The list is read again, and the request does not wait for it.
    expect(read()).toEqual(first);
    await settled();
    expect(read()).toEqual(first);
    expect(asked).toEqual([
      '/openapi/v3',
      '/openapi/v3/apis/example.com/v1?hash=a',
      // The list says that the document is the same.
      '/openapi/v3',
    ]);
  });

  it('are read again when kinds changed and the hash is another', async () => {
    const { state, documents, read } = publisher();
    await read();
    state.document = documentOf('Thing', 'Other');
    state.hash = 'b';
    documents.outdate();
    expect(await read('Other')).toEqual({ found: true, value: state.document });
  });

  it('are asked for a kind that is published late, but not for each request', async () => {
    const { state, asked, read, wait } = publisher();
    expect(await read('Other')).toMatchObject({ found: false, absent: true });
    const before = asked.length;
    for (let count = 0; count < 10; count += 1) await read('Other');
    expect(asked).toHaveLength(before);
    state.document = documentOf('Other');
    state.hash = 'b';
    wait(1_001);
    expect(await read('Other')).toMatchObject({ found: true });
  });

  it('are kept while the API server does not answer', async () => {
    const { state, asked, read, wait, documents } = publisher();
    const first = await read();
    state.isDown = true;
    wait(20_000);
    expect(read()).toEqual(first);
    await settled();
    documents.outdate();
    const before = asked.length;
    for (let count = 0; count < 10; count += 1) expect(await read()).toEqual(first);
    expect(asked).toHaveLength(before);
    wait(1_001);
    expect(await read()).toEqual(first);
    expect(asked).toHaveLength(before + 1);
  });

  it('are read again when kinds change while the list is being read', async () => {
    const { state, documents, read } = publisher();
    const early = read();
    documents.outdate();
    state.document = documentOf('Thing', 'Other');
    state.hash = 'b';
    await early;
    expect(await read('Other')).toMatchObject({ found: true });
  });

  it('are absent for a group that is not published, with the reason for one that cannot be read', async () => {
    const { state, documents, read } = publisher();
    state.isPublished = false;
    expect(await read()).toMatchObject({ found: false, absent: true });
    state.isDown = true;
    documents.outdate();
    expect(await read()).toEqual({
      found: false,
      error: 'the schema of example.com/v1 Thing cannot be read: the connection was refused',
    });
    expect(await documents.read('../v1', 'Thing', limits)).toMatchObject({ absent: true });
  });

  it('are read once for requests that come together', async () => {
    const { asked, read } = publisher();
    await Promise.all([read(), read(), read()]);
    expect(asked).toHaveLength(2);
  });
});
