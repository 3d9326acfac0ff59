import { spendBytes } from '../../json/budget.ts';
import { compareText } from '../go/format.ts';
import { cleanPath } from '../go/path.ts';
import {
  characters,
  equalFold,
  replaceText,
  splitText,
  toLower,
  toUpper,
  trimCutset,
} from '../go/strings.ts';
import { defineFunctions } from './define.ts';

export const stringFunctions = defineFunctions({
  compare: {
    parameters: ['string', 'string'],
    returns: 'number',
    description: 'Compares two strings: -1, 0 or 1.',
    example: { expression: "compare('a', 'b')", result: -1 },
    call: (args) => Math.sign(compareText(args.text(0), args.text(1))),
  },
  equal_fold: {
    parameters: ['string', 'string'],
    returns: 'boolean',
    description: 'Whether two strings are equal, ignoring case.',
    example: { expression: "equal_fold('Kube', 'kUBE')", result: true },
    call: (args) => equalFold(args.text(0), args.text(1)),
  },
  replace: {
    parameters: ['string', 'string', 'string', 'number'],
    returns: 'string',
    description: 'Replaces the first occurrences of the second string with the third; -1 replaces all.',
    example: { expression: "replace('aaaa', 'a', 'b', `2`)", result: 'bbaa' },
    call: (args) => replaceText(args.text(0), args.text(1), args.text(2), Math.trunc(args.number(3))),
  },
  replace_all: {
    parameters: ['string', 'string', 'string'],
    returns: 'string',
    description: 'Replaces every occurrence of the second string with the third.',
    example: { expression: "replace_all('aaaa', 'a', 'b')", result: 'bbbb' },
    call: (args) => replaceText(args.text(0), args.text(1), args.text(2), -1),
  },
  to_upper: {
    parameters: ['string'],
    returns: 'string',
    description: 'The string in upper case.',
    example: { expression: "to_upper('abc')", result: 'ABC' },
    call: (args) => toUpper(args.text(0)),
  },
  to_lower: {
    parameters: ['string'],
    returns: 'string',
    description: 'The string in lower case.',
    example: { expression: "to_lower('ABC')", result: 'abc' },
    call: (args) => toLower(args.text(0)),
  },
  trim: {
    parameters: ['string', 'string'],
    returns: 'string',
    description: 'Removes the characters of the second string from both ends.',
    example: { expression: "trim('!!Hi!!', '!')", result: 'Hi' },
    call: (args) => trimCutset(args.text(0), args.text(1)),
  },
  trim_prefix: {
    parameters: ['string', 'string'],
    returns: 'string',
    description: 'Removes the second string from the start, once.',
    example: { expression: "trim_prefix('v1.2', 'v')", result: '1.2' },
    call: (args) =>
      args.text(0).startsWith(args.text(1)) ? args.text(0).slice(args.text(1).length) : args.text(0),
  },
  split: {
    parameters: ['string', 'string'],
    returns: 'array[string]',
    description: 'Splits a string at a separator; an empty separator splits it into characters.',
    example: { expression: "split('a,b,c', ',')", result: ['a', 'b', 'c'] },
    call: (args) => splitText(args.text(0), args.text(1)),
  },
  truncate: {
    parameters: ['string', 'number'],
    returns: 'string',
    description: 'The first characters of a string.',
    example: { expression: "truncate('abcdefgh', `3`)", result: 'abc' },
    call: (args) => {
      const length = Math.max(Math.trunc(args.number(1)), 0);
      return args.text(0).length <= length
        ? args.text(0)
        : characters(args.text(0)).slice(0, length).join('');
    },
  },
  starts_with: {
    parameters: ['string', 'string'],
    returns: 'boolean',
    description: 'Whether a string begins with another.',
    example: { expression: "starts_with('kymera', 'ky')", result: true },
    call: (args) => args.text(0).startsWith(args.text(1)),
  },
  ends_with: {
    parameters: ['string', 'string'],
    returns: 'boolean',
    description: 'Whether a string ends with another.',
    example: { expression: "ends_with('kymera', 'ra')", result: true },
    call: (args) => args.text(0).endsWith(args.text(1)),
  },
  join: {
    parameters: ['string', 'array[string]'],
    returns: 'string',
    description: 'Joins strings with a separator.',
    example: { expression: 'join(\'-\', `["a", "b"]`)', result: 'a-b' },
    call: (args) => {
      const [separator, list] = [args.text(0), args.list(1) as readonly string[]];
      spendBytes(list.reduce((length, item) => length + item.length + separator.length, 0));
      return list.join(separator);
    },
  },
  path_canonicalize: {
    parameters: ['string'],
    returns: 'string',
    description: 'Removes doubled slashes, `.` and `..` from a path.',
    example: { expression: "path_canonicalize('///var//run/../x')", result: '/var/x' },
    call: (args) => (args.text(0) === '' ? '' : cleanPath(args.text(0))),
  },
  to_boolean: {
    parameters: ['string'],
    returns: 'boolean',
    description: 'Parses `true` or `false` in any case; other strings are errors.',
    example: { expression: "to_boolean('TrUe')", result: true },
    call: (args) => {
      const text = toLower(args.text(0));
      if (text === 'true' || text === 'false') return text === 'true';
      return args.fail(`lowercase argument must be 'true' or 'false' (provided: '${args.text(0)}')`);
    },
  },
});
