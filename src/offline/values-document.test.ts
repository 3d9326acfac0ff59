import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json/value.ts';
import { parseDottedKey } from './dotted-key.ts';
import { createValuesLookup, nestDottedKeys } from './request-values.ts';
import { parseUserInfo } from './user-info.ts';
import { parseSet, parseValues } from './values-document.ts';

test.each([
  ['a', ['a']],
  ['a.b.c', ['a', 'b', 'c']],
  ['a."b.c".d', ['a', 'b.c', 'd']],
  ['"a"', ['a']],
  ['a."say ""hi"""', ['a', 'say "hi"']],
])('the key %s has the steps %j', (text, steps) => {
  expect(parseDottedKey(text)).toEqual(steps);
});

test('dotted keys nest and meet, and __proto__ is a key like others', () => {
  const nested = nestDottedKeys({ 'a.b': 1, 'a.c': { d: 2 }, 'a.c.e': 3, '__proto__.x': 4 });
  expect(nested['a']).toEqual({ b: 1, c: { d: 2, e: 3 } });
  expect(Object.keys(nested)).toEqual(['a', '__proto__']);
  expect(({} as Record<string, unknown>)['x']).toBeUndefined();
});

const document = (fields: JsonObject): JsonObject => ({
  apiVersion: 'cli.kyverno.io/v1alpha1',
  kind: 'Values',
  ...fields,
});
const lookup = (fields: JsonObject, set: JsonObject = {}) =>
  createValuesLookup(parseValues(document(fields), 'values.yaml').values, set);

describe('values', () => {
  test('globalValues set the request and roots of every rule', () => {
    const values = lookup({
      globalValues: { 'request.operation': 'UPDATE', 'request.mode': 'dev', 'dictionary.data.env': 'x' },
    });
    expect(values.perPolicy).toBe(false);
    const { operation, variables, bindings } = values.forObject(undefined, 'web');
    expect(operation).toBe('UPDATE');
    expect(variables).toEqual({ operation: 'UPDATE', mode: 'dev' });
    expect(bindings?.('p', 'r')).toEqual({ dictionary: { data: { env: 'x' } } });
  });

  test('values of the resource win over globalValues, --set wins over both', () => {
    const fields = {
      globalValues: { a: 'global', b: 'global', c: 'global' },
      policies: [{ name: 'p', resources: [{ name: 'web', values: { b: 'resource', c: 'resource' } }] }],
    };
    const values = lookup(fields, { c: 'set' });
    expect(values.perPolicy).toBe(true);
    expect(values.forObject({ name: 'p', key: 'p' }, 'web').bindings?.('p', 'r')).toEqual({
      a: 'global',
      b: 'resource',
      c: 'set',
    });
    expect(values.forObject({ name: 'p', key: 'p' }, 'other').bindings?.('p', 'r')).toEqual({
      a: 'global',
      b: 'global',
      c: 'set',
    });
    expect(values.forObject({ name: 'q', key: 'q' }, 'web').bindings?.('q', 'r')).toEqual({
      a: 'global',
      b: 'global',
      c: 'set',
    });
  });

  test('values of a rule hold for that rule of that policy, also a namespaced one', () => {
    const values = lookup({
      policies: [{ name: 'p', rules: [{ name: 'r', values: { 'cm.data.a': '1' } }] }],
    });
    const { bindings } = values.forObject(undefined, 'web');
    expect(bindings?.('p', 'r')).toEqual({ cm: { data: { a: '1' } } });
    expect(bindings?.('team/p', 'r')).toEqual({ cm: { data: { a: '1' } } });
    expect(bindings?.('p', 'other')).toBeUndefined();
    expect(bindings?.('q', 'r')).toBeUndefined();
  });

  test('request.object reaches into the object', () => {
    const { object, variables } = lookup({ globalValues: { 'request.object.spec.a': 1 } }).forObject(
      undefined,
      'web',
    );
    expect(object).toEqual({ spec: { a: 1 } });
    expect(variables).toEqual({});
  });

  test('namespaces win over namespaceSelector', () => {
    const { values } = parseValues(
      document({
        namespaceSelector: [
          { name: 'a', labels: { from: 'selector' } },
          { name: 'b', labels: { x: 'y' } },
        ],
        namespaces: [
          { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a', labels: { from: 'object' } } },
        ],
      }),
      'values.yaml',
    );
    expect(Object.fromEntries(values.namespaces)).toEqual({ a: { from: 'object' }, b: { x: 'y' } });
  });

  test('all problems are reported at once', () => {
    const broken = document({ globalValues: [], policies: [{ rules: {} }], surprise: 1 });
    let problems: readonly { pointer: string; message: string }[] = [];
    try {
      parseValues(broken, 'values.yaml');
    } catch (error) {
      problems = (error as { problems: typeof problems }).problems;
    }
    expect(problems.map(({ pointer, message }) => [pointer, message])).toEqual([
      ['/surprise', 'a Values document has no field surprise'],
      ['/globalValues', 'globalValues must be a map'],
      ['/policies/0/name', 'name is missing'],
      ['/policies/0/rules', 'rules must be a list of maps'],
    ]);
  });

  test('an operation that does not exist is refused', () => {
    expect(() => lookup({ globalValues: { 'request.operation': 'PATCH' } })).toThrow(
      'CREATE, UPDATE, DELETE or CONNECT',
    );
  });

  test('a document without kind is taken, with a warning', () => {
    expect(parseValues({ globalValues: { a: 1 } }, 'values.yaml').warnings).toHaveLength(1);
  });
});

test('--set takes pairs apart; only the first equals sign counts', () => {
  expect(parseSet(['a.b=c,d=e', 'f=g=h'])).toEqual({ 'a.b': 'c', d: 'e', f: 'g=h' });
  expect(() => parseSet(['a'])).toThrow('write key=value');
});

test('a UserInfo document', () => {
  const text = {
    apiVersion: 'cli.kyverno.io/v1alpha1',
    kind: 'UserInfo',
    roles: ['ns:r'],
    clusterRoles: ['admin'],
    userInfo: { username: 'u', groups: ['g'] },
  };
  expect(parseUserInfo(text, 'user.yaml')).toEqual({
    info: { username: 'u', groups: ['g'] },
    roles: ['ns:r'],
    clusterRoles: ['admin'],
  });
  expect(() => parseUserInfo({ kind: 'UserInfo', roles: 'x' }, 'user.yaml')).toThrow('roles must be a list');
});
