import { spendList } from '../../json/budget.ts';
import { equal } from '../../json/equal.ts';
import {
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  member,
  typeOf,
} from '../../json/value.ts';
import { formatGoJson, formatGoNumber, sortedKeys } from '../go/format.ts';
import { characters } from '../go/strings.ts';
import { type Arguments, defineFunctions } from './define.ts';

export const collectionFunctions = defineFunctions({
  contains: {
    parameters: ['array|string', 'any'],
    returns: 'boolean',
    description: 'Whether a list contains an item, or a string contains a substring.',
    example: { expression: "contains('abc', 'b')", result: true },
    call: (args) => {
      const [subject, wanted] = [args.any(0), args.any(1)];
      if (isArray(subject)) return subject.some((item) => equal(item, wanted));
      return typeof wanted === 'string' && args.text(0).includes(wanted);
    },
  },
  length: {
    parameters: ['string|array|object'],
    returns: 'number',
    description: 'The number of characters, items or members.',
    example: { expression: "length('añb')", result: 3 },
    call: (args) => {
      const value = args.any(0);
      if (typeof value === 'string') return characters(value).length;
      return isArray(value) ? value.length : Object.keys(args.object(0)).length;
    },
  },
  reverse: {
    parameters: ['array|string'],
    returns: 'array|string',
    description: 'The items or characters from last to first.',
    example: { expression: "reverse('abc')", result: 'cba' },
    call: (args) => {
      const value = args.any(0);
      return isArray(value) ? value.toReversed() : characters(args.text(0)).reverse().join('');
    },
  },
  keys: {
    parameters: ['object'],
    returns: 'array[string]',
    description: 'The member names.',
    example: { expression: 'keys(@)', data: { a: 1, b: 2 }, result: ['a', 'b'] },
    call: (args) => Object.keys(args.object(0)),
  },
  values: {
    parameters: ['object'],
    returns: 'array',
    description: 'The member values.',
    example: { expression: 'values(@)', data: { a: 1, b: 2 }, result: [1, 2] },
    call: (args) => Object.values(args.object(0)),
  },
  merge: {
    parameters: ['object...'],
    returns: 'object',
    description: 'All members of all objects; the last one wins for equal names.',
    example: { expression: 'merge(`{"a": 1}`, `{"a": 2, "b": 3}`)', result: { a: 2, b: 3 } },
    call: (args) => {
      for (const object of args.all()) spendList(12 * Object.keys(object as JsonObject).length);
      return Object.fromEntries(args.all().flatMap((object) => Object.entries(object as JsonObject)));
    },
  },
  not_null: {
    parameters: ['any...'],
    returns: 'any',
    description: 'The first argument that is not null.',
    example: { expression: "not_null(`null`, 'd')", result: 'd' },
    call: (args) => args.all().find((value) => value !== null) ?? null,
  },
  to_array: {
    parameters: ['any'],
    returns: 'array',
    description: 'The list itself, or a list with the value.',
    example: { expression: 'to_array(`1`)', result: [1] },
    call: (args) => (isArray(args.any(0)) ? args.any(0) : [args.any(0)]),
  },
  to_string: {
    parameters: ['any'],
    returns: 'string',
    description: 'The string itself, or another value as JSON.',
    example: { expression: 'to_string(`{"a": 1}`)', result: '{"a":1}' },
    call: (args) => {
      const value = args.any(0);
      return typeof value === 'string' ? value : formatGoJson(value);
    },
  },
  type: {
    parameters: ['any'],
    returns: 'string',
    description: 'The name of the JSON type.',
    example: { expression: 'type(`true`)', result: 'boolean' },
    call: (args) => typeOf(args.any(0)),
  },
  lookup: {
    parameters: ['object|array', 'string|number'],
    returns: 'any',
    description: 'The member or item at a key or index; null when there is none.',
    example: { expression: "lookup(@, 'a')", data: { a: 'x' }, result: 'x' },
    call: lookup,
  },
  items: {
    parameters: ['object|array', 'string', 'string'],
    returns: 'array',
    description: 'A list of {key, value} objects with the given names, sorted by key.',
    example: {
      expression: "items(@, 'key', 'value')",
      data: { b: 2, a: 1 },
      result: [
        { key: 'a', value: 1 },
        { key: 'b', value: 2 },
      ],
    },
    call: (args) => {
      const value = args.any(0);
      const pair = (key: Json, item: Json): Json =>
        Object.fromEntries([
          [args.text(1), key],
          [args.text(2), item],
        ]);
      if (isArray(value)) {
        spendList(value.length * 8);
        return value.map((item, index) => pair(index, item));
      }
      spendList(Object.keys(args.object(0)).length * 8);
      return sortedKeys(args.object(0)).map((key) => pair(key, args.object(0)[key] ?? null));
    },
  },
  object_from_lists: {
    parameters: ['array', 'array'],
    returns: 'object',
    description: 'An object from a list of keys and a list of values; missing values are null.',
    example: { expression: 'object_from_lists(`["a", "b"]`, `[1]`)', result: { a: 1, b: null } },
    call: objectFromLists,
  },
  label_match: {
    parameters: ['object', 'object'],
    returns: 'boolean',
    description: 'Whether the second object has every member of the first.',
    example: { expression: 'label_match(`{"a": "b"}`, `{"a": "b", "c": "d"}`)', result: true },
    call: (args) =>
      Object.entries(args.object(0)).every(([key, value]) => {
        const other = member(args.object(1), key);
        return other !== undefined && equal(other, value);
      }),
  },
});

function lookup(args: Arguments): Json {
  const [subject, key] = [args.any(0), args.any(1)];
  if (isObject(subject)) {
    return typeof key === 'string'
      ? (member(subject, key) ?? null)
      : args.fail('argument #2 is not of type String');
  }
  if (typeof key !== 'number') return args.fail('argument #2 is not of type Number');
  if (!Number.isInteger(key)) {
    return args.fail(`argument #2: expected an integer number but got: ${formatGoNumber(key)}`);
  }
  return (subject as JsonArray)[key] ?? null;
}

function objectFromLists(args: Arguments): Json {
  spendList(12 * args.list(0).length);
  const values = args.list(1);
  return Object.fromEntries(
    args.list(0).map((key, index) => {
      if (key === null || typeof key === 'object') return args.fail('argument #1 is not of type StringArray');
      return [String(key), values[index] ?? null];
    }),
  );
}
