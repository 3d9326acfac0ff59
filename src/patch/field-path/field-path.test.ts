import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Json } from '../../json/value.ts';
import { wildcardText } from '../replacement/text-matcher.ts';
import { type FieldPathSyntax, parseFieldPath, splitFieldPath } from './field-path.ts';
import { readField } from './read.ts';
import { writeField } from './write.ts';

const syntax: FieldPathSyntax = { compare: wildcardText, lastItem: true };
const steps = (text: string) => parseFieldPath(text, syntax);

function write(
  root: string,
  path: string,
  options: { value?: Json; create?: boolean; sorted?: boolean } = {},
): Json {
  const before = parse(root) as Json;
  const { value, hits } = writeField(before, steps(path), {
    create: options.create ?? false,
    structured: options.sorted ? 'sorted' : 'kept',
    update: () => options.value ?? 'NEW',
  });
  return hits === 0 ? 'no hits' : value;
}

describe('splitting', () => {
  it.each([
    ['metadata.name', ['metadata', 'name']],
    ['.data.x', ['data', 'x']],
    ['a.b\\.c/d.e', ['a', 'b.c/d', 'e']],
    ['a.[b.c/d].e', ['a', 'b.c/d', 'e']],
    ['a.[name=x.y.z].e', ['a', '[name=x.y.z]', 'e']],
    ['a.[=v].0.*.-', ['a', '[=v]', '0', '*', '-']],
    ['a.[b.c', ['a', 'b.c']],
  ])('%s', (text, parts) => {
    expect(splitFieldPath(text)).toEqual(parts);
  });

  it('refuses brackets that are neither', () => {
    expect(() => steps('metadata.[name]')).toThrow(/\[key=value\]/);
  });
});

describe('reading', () => {
  const root = parse(
    '{a: {b.c: 1}, list: [{n: x, v: 1}, {n: y, v: 2}, {n: x, v: 3}], words: [p, q], nil: null}',
  ) as Json;
  it.each<[string, Json | undefined]>([
    ['a.b\\.c', 1],
    ['list.1.v', 2],
    ['list.-.v', 3],
    ['list.[n=x].v', 1],
    ['list.[n=?].v', 1],
    ['words.[=q]', 'q'],
    ['words.9', undefined],
    ['nil.x', undefined],
    ['a.constructor', undefined],
    ['list.n', undefined],
    ['words.0.x', undefined],
    ['a.0', undefined],
    ['a.[n=x]', undefined],
    ['words.[n=x]', undefined],
  ])('%s', (path, value) => {
    expect(readField(root, steps(path))).toEqual(value);
  });

  it('refuses a wildcard', () => {
    expect(() => readField(root, steps('list.*.v'))).toThrow(/many values/);
  });
});

describe('writing', () => {
  it.each([
    ['a field', '{a: {b: 1, c: 2}}', 'a.b', '{a: {b: NEW, c: 2}}'],
    ['by index', '{l: [1, 2, 3]}', 'l.1', '{l: [1, NEW, 3]}'],
    ['the last item', '{l: [1, 2]}', 'l.-', '{l: [1, NEW]}'],
    [
      'every match',
      '{l: [{n: x}, {n: y, v: 0}, {n: x, v: 1}, {n: x, v: 2}]}',
      'l.[n=x].v',
      '{l: [{n: x}, {n: y, v: 0}, {n: x, v: NEW}, {n: x, v: NEW}]}',
    ],
    [
      'by wildcard value',
      '{l: [{n: ab, v: 0}, {n: b, v: 0}]}',
      'l.[n=a*].v',
      '{l: [{n: ab, v: NEW}, {n: b, v: 0}]}',
    ],
    [
      'a number by its text',
      '{l: [{n: 2, v: 0}, {n: 12, v: 0}]}',
      'l.[n=2].v',
      '{l: [{n: 2, v: NEW}, {n: 12, v: 0}]}',
    ],
    [
      'every item that has the field',
      '{l: [{v: 0}, {w: 1}, {v: 2}]}',
      'l.*.v',
      '{l: [{v: NEW}, {w: 1}, {v: NEW}]}',
    ],
    ['scalars in a list', '{l: [a, b, a]}', 'l.[=a]', '{l: [NEW, b, NEW]}'],
    ['a field that is null', '{a: null}', 'a', '{a: NEW}'],
  ])('%s', (_title, before, path, after) => {
    expect(write(before, path)).toEqual(parse(after));
  });

  it.each([
    ['a missing field', '{a: {}}', 'a.b'],
    ['a missing parent', '{a: {}}', 'b.c'],
    ['below null', '{a: null}', 'a.b'],
    ['no match', '{l: [{n: x}]}', 'l.[n=z].v'],
    ['no item has it', '{l: [{n: x}]}', 'l.*.v'],
    ['an inherited name', '{a: {}}', 'a.toString'],
    ['the last of none', '{l: []}', 'l.-'],
  ])('leads nowhere: %s', (_title, before, path) => {
    expect(write(before, path)).toBe('no hits');
  });

  it.each([
    ['deep maps', '{}', 'a.b.c', '{a: {b: {c: NEW}}}'],
    ['below null', '{a: null}', 'a.b', '{a: {b: NEW}}'],
    ['a list item by key', '{l: [{n: x}]}', 'l.[n=z].v', '{l: [{n: x}, {n: z, v: NEW}]}'],
    ['a list from nothing', '{}', 'l.[n=z].m.[k=1].v', "{l: [{n: z, m: [{k: '1', v: NEW}]}]}"],
    ['an item at the end', '{l: [{n: x}]}', 'l.1.n', '{l: [{n: x}, {n: NEW}]}'],
    ['the first item', '{}', 'l.0', '{l: [NEW]}'],
    ['the field in every item', '{l: [{n: x}, {n: y}]}', 'l.*.v', '{l: [{n: x, v: NEW}, {n: y, v: NEW}]}'],
    ['a scalar item', '{l: [a]}', 'l.[=b]', '{l: [a, NEW]}'],
    ['a prototype as a name', '{}', '__proto__.a', '{__proto__: {a: NEW}}'],
  ])('creates %s', (_title, before, path, after) => {
    expect(JSON.stringify(write(before, path, { create: true }))).toBe(JSON.stringify(parse(after)));
  });

  it.each([
    ['a gap', '{l: [1]}', 'l.5', /only 1 elements found/],
    ['a wildcard on a map', '{a: {b: 1}}', 'a.*', /needs a list, but the value is a map/],
    ['an index on a map', "{a: {'404': 1}}", 'a.404', /needs a list/],
    ['a name on a list', '{l: [{n: 1}]}', 'l.n', /needs a map, but the value is a list/],
    ['a name below a number', '{a: 1}', 'a.b', /needs a map, but the value is a number/],
    ['a name below a text', '{a: text}', 'a.b', /below a string/],
    ['an item made from a wildcard', '{l: []}', 'l.[n=a*].v', /a pattern cannot create one/],
  ])('refuses %s', (_title, before, path, message) => {
    expect(() => write(before, path, { create: true })).toThrow(message);
  });

  it('cannot create a list for a wildcard', () => {
    expect(write('{}', 'l.*.v', { create: true })).toBe('no hits');
  });

  it('returns the root itself when nothing changes, and shares the rest', () => {
    const root = parse('{a: {b: NEW}, c: {d: 1}}') as { readonly c: Json };
    const options = { create: false, structured: 'kept', update: (): Json => 'NEW' } as const;
    expect(writeField(root as unknown as Json, steps('a.b'), options).value).toBe(root);
    const changed = writeField(root as unknown as Json, steps('a.e'), { ...options, create: true }).value;
    expect((changed as unknown as typeof root).c).toBe(root.c);
  });
});

describe('writing inside structured text', () => {
  const text = (value: Json) => JSON.stringify({ data: { f: value } });
  it.each([
    ['compact JSON', '{"b":{"h":"x"},"a":1}', 'data.f.b.h', false, '{"b":{"h":"NEW"},"a":1}'],
    ['JSON with sorted members', '{"b":{"h":"x"},"a":1}', 'data.f.b.h', true, '{"a":1,"b":{"h":"NEW"}}'],
    [
      'pretty JSON',
      '{\n  "b": {\n    "h": "x"\n  }\n}',
      'data.f.b.h',
      false,
      '{\n  "b": {\n    "h": "NEW"\n  }\n}',
    ],
    ['a list in JSON', '[{"n":"a","v":1}]', 'data.f.[n=a].v', false, '[{"n":"a","v":"NEW"}]'],
    [
      'YAML, with its comments',
      'b:\n  h: x # why\n  p: 1 # port\n',
      'data.f.b.h',
      false,
      'b:\n  h: NEW # why\n  p: 1 # port',
    ],
    ['text in text', '{"b":"{\\"c\\":1}"}', 'data.f.b.c', false, '{"b":"{\\"c\\":\\"NEW\\"}"}'],
  ])('%s', (_title, before, path, sorted, after) => {
    expect(write(text(before), path, { sorted })).toEqual({ data: { f: after } });
  });

  it.each([
    ['a missing field', '{"a":1}', 'data.f.b'],
    ['broken JSON that is a YAML map', '{a: 1}', 'data.f.b'],
  ])('leads nowhere: %s', (_title, before, path) => {
    expect(write(text(before), path)).toBe('no hits');
  });

  it.each([
    ['plain text', 'hello'],
    ['broken text', '{"a":'],
    [
      'an alias bomb',
      'a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]',
    ],
  ])('refuses %s', (_title, before) => {
    expect(() => write(text(before), 'data.f.b')).toThrow(/below a string/);
  });
});
