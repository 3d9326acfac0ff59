import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { allIds, createResource, currentId, idOf, originalId } from './resource.ts';
import { createResourceSet } from './resource-set.ts';

const configMap = (name: string, namespace?: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(namespace !== undefined && { namespace }) },
});

describe('a set of resources', () => {
  it('keeps their order and refuses one id twice, `default` being no namespace (C-03)', () => {
    const set = createResourceSet([configMap('b'), configMap('a')].map((object) => createResource(object)));
    expect(set.list().map((resource) => currentId(resource).name)).toEqual(['b', 'a']);
    expect(() => set.add(createResource(configMap('a', 'default')))).toThrow('the same id');
    set.add(createResource(configMap('a', 'other')));
    expect(set.size).toBe(3);
  });

  it('finds a resource by what it is called and by what it was called', () => {
    const resource = createResource(configMap('a'));
    const set = createResourceSet([resource]);
    set.rememberId(resource);
    set.update(resource, configMap('x-a'));
    expect(set.withCurrentId(idOf(configMap('a')))).toEqual([]);
    expect(set.withCurrentId(idOf(configMap('x-a')))).toEqual([resource]);
    expect(set.withAnyId(idOf(configMap('a')))).toEqual([resource]);
    expect(originalId(resource).name).toBe('a');
    expect(allIds(resource).map(({ name }) => name)).toEqual(['a', 'x-a']);
  });

  it('allows a collision for a while and reports it on request', () => {
    const [first, second] = [createResource(configMap('a')), createResource(configMap('b'))] as const;
    const set = createResourceSet([first, second]);
    set.update(first, configMap('b'));
    expect(() => set.checkUnique()).toThrow('the same id');
    set.remove(second);
    expect(() => set.checkUnique()).not.toThrow();
    expect(set.withCurrentId(idOf(configMap('b')))).toEqual([first]);
  });
});
