import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../json/value.ts';
import { customResourceDefinitions } from './crds.ts';
import { prunedFields } from './pruned-fields.ts';

const text: JsonObject = { type: 'string' };
const map = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});
const list = (items: JsonObject): JsonObject => ({ type: 'array', items });

function definition(versions: Readonly<Record<string, JsonObject>>, served: Json = true): JsonObject {
  const list = Object.entries(versions).map(([name, openAPIV3Schema]) => ({
    name,
    served,
    schema: { openAPIV3Schema },
  }));
  return { spec: { versions: list } };
}

describe('fields that another definition would drop', () => {
  const ours = definition({
    v1: map({
      metadata: map({}),
      spec: map({ a: text, rules: list(map({ name: text, extra: map({ inner: text }) })) }),
      status: map({}),
    }),
  });

  it.each<[string, JsonObject, readonly string[]]>([
    ['none when it is the same', ours, []],
    [
      'none where more is allowed',
      definition({
        v1: map({
          spec: map({ a: text, more: text, rules: list(map({ name: text, extra: map({ inner: text }) })) }),
        }),
      }),
      [],
    ],
    [
      'one at the end',
      definition({
        v1: map({ spec: map({ rules: list(map({ name: text, extra: map({ inner: text }) })) }) }),
      }),
      ['spec.a'],
    ],
    [
      'in items of a list, without what is inside',
      definition({ v1: map({ spec: map({ a: text, rules: list(map({ name: text })) }) }) }),
      ['spec.rules[].extra'],
    ],
    [
      'none where anything is kept',
      definition({ v1: map({ spec: map({}, { 'x-kubernetes-preserve-unknown-fields': true }) }) }),
      [],
    ],
    ['a version that is not there', definition({ v2: map({}) }), ['v1']],
    ['or not served', definition({ v1: map({}) }, false), ['v1']],
  ])('%s', (_, theirs, expected) => {
    expect(prunedFields(ours, theirs)).toEqual(expected);
  });

  it('our own definitions drop none of their fields', () => {
    for (const own of customResourceDefinitions()) expect(prunedFields(own, own)).toEqual([]);
  });
});
