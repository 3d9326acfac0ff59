import { expect, it } from 'vitest';
import { isAcceptedToken } from './path-token.ts';

it.each([
  ['abc', ['abc'], true],
  ['abc', ['old', 'abc'], true],
  ['old', ['old', 'abc'], true],
  ['abd', ['abc'], false],
  ['ab', ['abc'], false],
  ['abcd', ['abc'], false],
  ['äb', ['abc'], false],
  ['', [''], false],
  ['abc', [], false],
])('%j of %j: %s', (candidate, tokens, isAccepted) => {
  expect(isAcceptedToken(candidate, tokens)).toBe(isAccepted);
});
