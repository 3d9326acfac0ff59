import { describe, expect, it } from 'vitest';
import type { Json } from '../../json/value.ts';
import { collectProblems } from '../expression.testing.ts';
import { resolveReferences } from './reference.ts';

function resolve(document: Json): { readonly result: Json; readonly problems: readonly string[] } {
  const { problems, reporter } = collectProblems();
  return { result: resolveReferences(document, ['rule'], reporter), problems };
}

describe('references', () => {
  it.each<[string, Json, Json]>([
    ['absolute', { a: { b: 'x' }, c: '$(/a/b)' }, { a: { b: 'x' }, c: 'x' }],
    ['relative', { a: { b: 'x', c: '$(../b)' } }, { a: { b: 'x', c: 'x' } }],
    ['relative with a dot', { a: { b: 'x', c: '$(./../b)' } }, { a: { b: 'x', c: 'x' } }],
    ['from a list', { a: ['x', '$(../0)'] }, { a: ['x', 'x'] }],
    ['into a list', { a: [{ b: 'x' }], c: '$(/a/0/b)' }, { a: [{ b: 'x' }], c: 'x' }],
    ['to an anchored key', { a: { '(b)': 'x' }, c: '$(/a/b)' }, { a: { '(b)': 'x' }, c: 'x' }],
    ['to below an added key', { '+(a)': { b: 'x' }, c: '$(/a/b)' }, { '+(a)': { b: 'x' }, c: 'x' }],
    ['from below an anchored key', { '(a)': { b: 'x', c: '$(../b)' } }, { '(a)': { b: 'x', c: 'x' } }],
    ['inside a text', { a: 'x', b: 'v-$(/a)-w' }, { a: 'x', b: 'v-x-w' }],
    ['several in a text', { a: 'x', b: 'y', c: '$(/a)-$(/b)' }, { a: 'x', b: 'y', c: 'x-y' }],
    ['in a key', { a: 'x', '$(/a)-1': 1 }, { a: 'x', 'x-1': 1 }],
    ['in a key, relative to the object', { o: { '$(../a)': 1 }, a: 'x' }, { o: { x: 1 }, a: 'x' }],
    ['to a template', { a: '{{ x }}', b: '$(/a)' }, { a: '{{ x }}', b: '{{ x }}' }],
    ['with an operator', { a: 5, b: '$(<=/a)' }, { a: 5, b: '<=5.000000' }],
    ['with an operator, to text', { a: '1Gi', b: '$(>../a)' }, { a: '1Gi', b: '>1Gi' }],
    ['with a negation', { a: 'x', b: '$(!/a)' }, { a: 'x', b: '!x' }],
    ['to a key with a slash', { 'a/b': 'x', c: '$(/a\\/b)' }, { 'a/b': 'x', c: 'x' }],
    ['escaped', { a: 'run \\$(POD_IP) \\$(/a)' }, { a: 'run $(POD_IP) $(/a)' }],
    ['resolved once', { a: '$(/b)', b: '\\$(/c)', c: 'x' }, { a: '\\$(/c)', b: '$(/c)', c: 'x' }],
  ])('%s', (_name, document, expected) => {
    expect(resolve(document)).toEqual({ result: expected, problems: [] });
  });

  it.each<[string]>([['$(x y)'], ['$()'], ['$('], ['$x'], ['(a)'], ['$ (a)'], ['{{ a }}']])(
    '%s is not one',
    (text) => {
      const document = { a: [text] };
      const { result, problems } = resolve(document);
      expect(result).toBe(document);
      expect(problems).toEqual([]);
    },
  );

  it.each<[string, Json, string]>([
    [
      'an unknown path',
      { args: ['$(POD_IP)'] },
      '/rule/args/0 KYM_REFERENCE_UNRESOLVED: failed to resolve $(POD_IP) at path /rule/args/0: the rule has no value at /args/0/POD_IP | for a literal string, write \\$(POD_IP)',
    ],
    [
      'a number without an operator',
      { a: 5, b: '$(/a)' },
      '/rule/b KYM_REFERENCE_UNRESOLVED: failed to resolve $(/a) at path /rule/b: a reference must point to a string',
    ],
    [
      'a boolean with an operator',
      { a: true, b: '$(>/a)' },
      '/rule/b KYM_REFERENCE_UNRESOLVED: failed to resolve $(>/a) at path /rule/b: the operator > needs a string or a number',
    ],
    [
      'an object',
      { a: { c: 'x' }, b: '$(/a)' },
      '/rule/b KYM_REFERENCE_UNRESOLVED: failed to resolve $(/a) at path /rule/b: the rule has no value at /a | for a literal string, write \\$(/a)',
    ],
    [
      'null',
      { a: null, b: '$(/a)' },
      '/rule/b KYM_REFERENCE_UNRESOLVED: failed to resolve $(/a) at path /rule/b: the rule has no value at /a | for a literal string, write \\$(/a)',
    ],
    [
      'an operator without a path',
      { b: '$(>=)' },
      '/rule/b KYM_REFERENCE_UNRESOLVED: failed to resolve $(>=) at path /rule/b: the reference is empty | for a literal string, write \\$(>=)',
    ],
  ])('to %s is a problem', (_name, document, problem) => {
    const { result, problems } = resolve(document);
    expect(problems).toEqual([problem]);
    expect(result).toBe(document);
  });

  it('share what they do not change', () => {
    const document = { a: 'x', b: { c: '$(/a)' }, d: { e: [1] } };
    const { result } = resolve(document);
    expect((result as typeof document).d).toBe(document.d);
    expect(document.b.c).toBe('$(/a)');
  });

  it('keep a __proto__ key as data', () => {
    const document = JSON.parse('{"__proto__": {"a": "x"}, "b": "$(/__proto__/a)"}') as Json;
    expect(JSON.stringify(resolve(document).result)).toBe('{"__proto__":{"a":"x"},"b":"x"}');
  });
});
