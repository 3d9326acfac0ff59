import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '../json/value.ts';
import { mergeSchemaFor } from './merge-schema.ts';
import { mergeStrategic } from './strategic-merge.ts';

const podSchema = mergeSchemaFor('v1', 'Pod');

function merge(target: string, patch: string): JsonObject | undefined {
  return mergeStrategic(parse(target) as JsonObject, parse(patch) as JsonObject, podSchema);
}

describe("plain merge in kustomize's order", () => {
  it.each([
    [
      'items of the patch come first, in its order',
      'spec: {containers: [{name: a}, {name: b}, {name: c}]}',
      'spec: {containers: [{name: n}, {name: c, tty: true}, {name: a, tty: true}]}',
      'spec: {containers: [{name: n}, {name: c, tty: true}, {name: a, tty: true}, {name: b}]}',
    ],
    [
      'an item that is named but not changed comes first too',
      'spec: {containers: [{name: a}, {name: b, tty: true}]}',
      'spec: {containers: [{name: b, tty: true}]}',
      'spec: {containers: [{name: b, tty: true}, {name: a}]}',
    ],
    [
      'deleted items go, the rest keeps its order',
      'spec: {containers: [{name: a}, {name: b}, {name: c}]}',
      'spec: {containers: [{name: b, $patch: delete}, {name: c, tty: true}]}',
      'spec: {containers: [{name: c, tty: true}, {name: a}]}',
    ],
    [
      'items told apart by two keys keep their place',
      'spec: {containers: [{name: a, ports: [{containerPort: 80}, {containerPort: 53, protocol: UDP}]}]}',
      'spec: {containers: [{name: a, ports: [{containerPort: 53, protocol: UDP, name: d}, {containerPort: 1, protocol: TCP}]}]}',
      'spec: {containers: [{name: a, ports: [{containerPort: 1, protocol: TCP}, {containerPort: 80}, {containerPort: 53, protocol: UDP, name: d}]}]}',
    ],
    [
      'values of a set come first',
      'metadata: {finalizers: [a, b]}',
      'metadata: {finalizers: [n, b]}',
      'metadata: {finalizers: [n, b, a]}',
    ],
    [
      'parentheses are part of a key',
      "metadata: {labels: {a: 'x'}}",
      "metadata: {labels: {(a): 'y', +(a): 'z'}}",
      "metadata: {labels: {a: 'x', (a): 'y', +(a): 'z'}}",
    ],
    [
      'braces are part of a value',
      'metadata: {labels: {a: x}}',
      "metadata: {labels: {a: '{{ b }}'}}",
      "metadata: {labels: {a: '{{ b }}'}}",
    ],
    [
      'replace at the top is a merge',
      'spec: {a: 1}',
      '{$patch: replace, spec: {b: 2}}',
      'spec: {a: 1, b: 2}',
    ],
  ])('%s', (_title, target, patch, result) => {
    expect(merge(target, patch)).toEqual(parse(result));
  });

  it('deletes the object', () => {
    expect(merge('spec: {a: 1}', '$patch: delete')).toBeUndefined();
  });

  it('replaces lists without a schema', () => {
    const target = parse('spec: {containers: [{name: a}]}') as JsonObject;
    const patch = parse('spec: {containers: [{name: b}]}') as JsonObject;
    expect(mergeStrategic(target, patch, undefined)).toEqual(patch);
  });

  it('keeps places when told to', () => {
    const target = parse('spec: {containers: [{name: a}, {name: b}]}') as JsonObject;
    const patch = parse('spec: {containers: [{name: b, tty: true}]}') as JsonObject;
    expect(mergeStrategic(target, patch, podSchema, 'keep')).toEqual(
      parse('spec: {containers: [{name: a}, {name: b, tty: true}]}'),
    );
  });

  it('returns the target itself when nothing changes', () => {
    const target = parse('spec: {containers: [{name: a, x: 1}, {name: b}]}') as JsonObject;
    const patch = parse('spec: {containers: [{name: a, x: 1}]}') as JsonObject;
    expect(mergeStrategic(target, patch, podSchema)).toBe(target);
  });

  it('refuses an unknown strategy', () => {
    expect(() => merge('spec: {a: 1}', 'spec: {$patch: obliterate}')).toThrow(
      /unknown patch strategy "obliterate"/,
    );
  });
});
