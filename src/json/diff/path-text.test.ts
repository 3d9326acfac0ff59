import { describe, expect, it } from 'vitest';
import { diff, diffText } from './diff.ts';
import { PathText } from './path-text.ts';

describe('PathText', () => {
  it('escapes tokens for the pointer and for JSON', () => {
    const path = PathText.root().child('a/b~c').child('"').child(0);
    expect(path.pointer).toBe('/a~1b~0c/"/0');
    expect(path.escaped).toBe('/a~1b~0c/\\"/0');
    expect(path.operation('add')).toBe('},{"op":"add","path":"/a~1b~0c/\\"/0","value":');
    expect(path.operation('replace')).toBe('},{"op":"replace","path":"/a~1b~0c/\\"/0","value":');
  });

  it('keeps the paths that occur again', () => {
    expect(PathText.root().child('spec').child(1)).toBe(PathText.root().child('spec').child(1));
  });

  it('keeps neither long paths nor more than a fixed number', () => {
    const long = 'k'.repeat(300);
    expect(PathText.root().child(long)).not.toBe(PathText.root().child(long));
    const root = PathText.root();
    for (let index = 0; index < 10_000; index++) root.child(`key-${index}`);
    expect(root.child('key-9999')).not.toBe(root.child('key-9999'));
    // The next diff starts with what occurs then.
    expect(PathText.root()).not.toBe(root);
    expect(PathText.root().child('key-9999')).toBe(PathText.root().child('key-9999'));
  });

  it('keeps no items of long lists, so that these do not displace other paths', () => {
    const list = PathText.root().child('list');
    const first = list.child(0);
    for (let index = 0; index < 10_000; index++) list.child(index).child('value');
    expect(PathText.root().child('list').child(0)).toBe(first);
    expect(list.child(9_999).child('value').pointer).toBe('/list/9999/value');
  });

  it('gives the same operations when there are more paths than are kept', () => {
    const before = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`k${index}`, index]));
    const after = Object.fromEntries(Object.keys(before).map((key) => [key, 'changed']));
    const operations = diff(before, after);
    expect(operations.map(({ path }) => path)).toEqual(Object.keys(before).map((key) => `/${key}`));
    expect(JSON.parse(diffText(before, after))).toEqual(operations);
  });
});
