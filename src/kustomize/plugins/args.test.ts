import { expect, it } from 'vitest';
import { splitWords } from './args.ts';

it.each([
  ['X-04: words', 'a b\tc', ['a', 'b', 'c']],
  ['X-04: quotes keep blanks', `'a b' "c d"e`, ['a b', 'c de']],
  [
    'X-04: a backslash keeps the next character, except in single quotes',
    `a\\ b "c\\"d" 'e\\f'`,
    ['a b', 'c"d', 'e\\f'],
  ],
  ['X-04: # begins a comment', 'a b#c d', ['a', 'b']],
  ['X-04: empty quotes are no word', `a '' b`, ['a', 'b']],
  ['X-04: nothing', '  ', []],
])('%s', (_title, line, words) => {
  expect(splitWords(line)).toEqual(words);
});

it('X-04: an unclosed quote is an error', () => {
  expect(() => splitWords(`a 'b`)).toThrow(/unclosed quote/);
});
