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

  it('drops what is not a workspace', () => {
    expect(
      readWorkspace({ policies: [1, { name: 'a' }], request: { operation: 'DROP' }, mocks: { a: 1 } }),
    ).toEqual(emptyWorkspace);
    expect(readWorkspace(null)).toEqual(emptyWorkspace);
  });
});
