import { describe, expect, it } from 'vitest';
import { loadDocuments } from '../load.ts';
import { check, type Parts, policy } from '../policy.testing.ts';

describe('context entries', () => {
  const at = '/spec/rules/0/context/0';
  const entry = (fields: string): Parts => ({ rule: `context: [{${fields}}]` });
  it.each<[string, Parts, string]>([
    ['no name', entry('variable: {value: 1}'), `KYM_FIELD_MISSING ${at}`],
    ['an empty name', entry('name: "", variable: {value: 1}'), `KYM_CONTEXT_ENTRY ${at}`],
    ['a built-in name', entry('name: images, variable: {value: 1}'), `KYM_CONTEXT_ENTRY ${at}/name`],
    [
      'a name below a built-in one',
      entry('name: request.object, variable: {value: 1}'),
      `KYM_CONTEXT_ENTRY ${at}/name`,
    ],
    ['no type', entry('name: a'), `KYM_CONTEXT_ENTRY ${at}`],
    [
      'two types',
      entry('name: a, variable: {value: 1}, configMap: {name: b, namespace: c}'),
      `KYM_CONTEXT_ENTRY ${at}`,
    ],
    [
      'a configMap without name',
      entry('name: a, configMap: {namespace: c}'),
      `KYM_FIELD_MISSING ${at}/configMap`,
    ],
    [
      'a configMap without namespace',
      entry('name: a, configMap: {name: c}'),
      `KYM_CONTEXT_ENTRY ${at}/configMap`,
    ],
    [
      'a variable without value and jmesPath',
      entry('name: a, variable: {}'),
      `KYM_CONTEXT_ENTRY ${at}/variable`,
    ],
    [
      'a default without jmesPath',
      entry('name: a, variable: {value: 1, default: 2}'),
      `KYM_CONTEXT_ENTRY ${at}/variable/default`,
    ],
    [
      'service and urlPath',
      entry('name: a, apiCall: {urlPath: /api, service: {url: "https://x"}}'),
      `KYM_CONTEXT_ENTRY ${at}/apiCall`,
    ],
    [
      'neither service nor urlPath',
      entry('name: a, apiCall: {method: GET}'),
      `KYM_CONTEXT_ENTRY ${at}/apiCall`,
    ],
    [
      'an unknown method',
      entry('name: a, apiCall: {urlPath: /api, method: PUT}'),
      `KYM_FIELD_VALUE ${at}/apiCall/method`,
    ],
    [
      'a jmesPath that does not parse',
      entry('name: a, variable: {jmesPath: "a.["}'),
      `KYM_EXPRESSION_SYNTAX ${at}/variable/jmesPath`,
    ],
    [
      'a reference to itself',
      entry('name: a, variable: {value: "{{ a }}"}'),
      `KYM_CONTEXT_CYCLE ${at}/variable/value`,
    ],
    [
      'a reference to a later one',
      { rule: 'context: [{name: a, variable: {jmesPath: b}}, {name: b, variable: {value: "{{ a }}"}}]' },
      `KYM_CONTEXT_CYCLE ${at}/variable/jmesPath`,
    ],
  ])('%s', (_, parts, expected) => {
    expect(check(policy(parts))).toEqual([`error ${expected}`]);
  });

  it('the cycle names its entries', () => {
    const rule =
      'context: [{name: a, variable: {value: "{{ b }}"}}, {name: b, variable: {value: "{{ a }}"}}]';
    const { problems } = loadDocuments([{ file: 'p', text: policy({ rule }) }]);
    expect(problems[0]?.message).toBe('the context entry a refers to b, which is defined after it');
  });

  it.each([
    [
      'earlier entries',
      'context: [{name: a, variable: {value: 1}}, {name: b, variable: {value: "{{ a }}"}}]',
    ],
    [
      'a new value from the old one',
      'context: [{name: a, variable: {value: 1}}, {name: a, variable: {value: "{{ a }}2"}}]',
    ],
    ['fields of the answer', 'context: [{name: a, apiCall: {urlPath: /version, jmesPath: minor}}]'],
    ['fields of the value', 'context: [{name: a, variable: {value: {b: 1}, jmesPath: b}}]'],
  ])('%s may be used', (_, rule) => {
    expect(check(policy({ rule }))).toEqual([]);
  });

  it('variables inside the jmesPath of an answer are checked', () => {
    const rule = `context: [{name: a, apiCall: {urlPath: /version, jmesPath: "items[?name=='{{ nothing }}']"}}]`;
    expect(check(policy({ rule }))).toEqual([`error KYM_VARIABLE_UNKNOWN ${at}/apiCall/jmesPath`]);
  });
});
