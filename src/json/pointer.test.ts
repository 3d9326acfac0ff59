import { describe, expect, it } from 'vitest';
import { formatPointer, parsePointer } from './pointer.ts';

describe('pointers', () => {
  it.each([
    ['', []],
    ['/', ['']],
    ['/a/0', ['a', '0']],
    ['/a~1b/c~0d', ['a/b', 'c~d']],
    ['/~01', ['~1']],
    ['/__proto__', ['__proto__']],
    ['/a/', ['a', '']],
  ])('%j has the tokens %j, and back', (text, tokens) => {
    expect(parsePointer(text)).toEqual(tokens);
    expect(formatPointer(tokens)).toBe(text);
  });

  it('writes list indexes as numbers', () => {
    expect(formatPointer(['l', 3, 'k'])).toBe('/l/3/k');
  });

  it('refuses a path without a leading slash', () => {
    expect(() => parsePointer('a/b')).toThrow("must start with '/'");
  });

  it('refuses a tilde that starts no escape, unless lenient', () => {
    expect(() => parsePointer('/a~2')).toThrow('~0');
    expect(() => parsePointer('/a~')).toThrow('~0');
    expect(parsePointer('/a~2', { lenient: true })).toEqual(['a~2']);
  });
});
