import { deflateSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { emptyRequest, emptyWorkspace } from '../engine/workspace.ts';
import { decodeWorkspace, encodeWorkspace, readWorkspace } from './share.ts';
import { starterWorkspace } from './starter.ts';

const encoded = (text: string) => Buffer.from(deflateSync(Buffer.from(text))).toString('base64url');

describe('a shared link', () => {
  it('restores the whole workspace', () => {
    const workspace = {
      ...starterWorkspace,
      files: [{ name: 'base/kustomization.yaml', text: 'resources: []\n' }],
      folder: 'base',
      context: [{ name: 'ünï.yaml', text: 'key: "✓ 日本"\n' }],
      request: { ...emptyRequest, operation: 'UPDATE' as const, username: 'ada', oldObject: 'spec: {}' },
      mocks: { 'GET /api/v1/pods': 'items: []' },
    };
    const text = encodeWorkspace(workspace);
    expect(text).toMatch(/^[\w-]+$/);
    expect(decodeWorkspace(text)).toEqual(workspace);
  });

  it.each(['', '!!', 'abc', encoded('{')])('reports damage: %j', (text) => {
    expect(() => decodeWorkspace(text)).toThrow('The link is damaged');
  });

  it('does not unpack a bomb', () => {
    expect(() => decodeWorkspace(encoded(' '.repeat(9 * 1024 * 1024)))).toThrow('more than 8 MB');
  });

  it('does not open more files than a page can show', () => {
    const files = Array.from({ length: 1_001 }, (_, index) => ({ name: `${index}.yaml`, text: '' }));
    expect(() => readWorkspace({ policies: files })).toThrow('more than 1000 files');
    expect(readWorkspace({ policies: files.slice(1) }).policies).toHaveLength(1_000);
    const mocks = Object.fromEntries(files.map(({ name }) => [name, '{}']));
    expect(() => readWorkspace({ mocks })).toThrow('more than 1000 mocks');
  });

  it('reads keys of prototypes as data, and deep values without a stack overflow', () => {
    const hostile =
      '{"__proto__": {"policies": [{"name": "a", "text": "b"}]}, "mocks": {"__proto__": "text"}}';
    const opened = decodeWorkspace(encoded(hostile));
    expect(opened.policies).toEqual([]);
    expect(Object.entries(opened.mocks)).toEqual([['__proto__', 'text']]);
    expect(Object.getPrototypeOf(opened.mocks)).toBe(Object.prototype);
    const deep = `{"policies": ${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`;
    expect(decodeWorkspace(encoded(deep))).toEqual(emptyWorkspace);
  });

  it('drops what is not a workspace', () => {
    expect(
      readWorkspace({ policies: [1, { name: 'a' }], request: { operation: 'DROP' }, mocks: { a: 1 } }),
    ).toEqual(emptyWorkspace);
    expect(readWorkspace(null)).toEqual(emptyWorkspace);
  });
});
