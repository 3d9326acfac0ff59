import type { JsonObject } from '../../json/value.ts';
import { KustomizeError } from '../kustomize-error.ts';
import {
  createResource,
  currentId,
  currentKey,
  describeId,
  idKey,
  type Resource,
  type ResourceId,
} from './resource.ts';

/**
 * The resources of a build, in order and indexed by id. Every change goes through the set, which updates the index.
 */
export interface ResourceSet {
  readonly size: number;
  /** A snapshot in order; the set may change during iteration. */
  list(): readonly Resource[];
  has(resource: Resource): boolean;
  /** Appends a resource. Throws if its current id exists. */
  add(resource: Resource): void;
  /** Replaces the object of a resource, and other fields. Ids may be temporarily equal. */
  update(resource: Resource, object: JsonObject, fields?: Partial<Omit<Resource, 'object'>>): void;
  /** Records the current id as a previous one. Call it before changing name, namespace or kind. */
  rememberId(resource: Resource): void;
  remove(resource: Resource): void;
  /** Replaces the content. Throws if two resources have the same id. */
  replaceAll(resources: readonly Resource[]): void;
  withCurrentId(id: ResourceId): readonly Resource[];
  /** Resources that have or had this id, in order. */
  withAnyId(id: ResourceId): readonly Resource[];
  /** Throws if two resources have the same current id. */
  checkUnique(): void;
}

/** Only the set changes resources in place. */
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export function createResourceSet(initial: Iterable<Resource> = []): ResourceSet {
  const members = new Map<Resource, number>();
  const byCurrentId = createIndex();
  const byPreviousId = createIndex();
  let nextPosition = 0;

  const enter = (resource: Resource) => {
    members.set(resource, nextPosition++);
    byCurrentId.put(currentKey(resource), resource);
    for (const id of resource.previousIds) byPreviousId.put(idKey(id), resource);
  };
  const leave = (resource: Resource) => {
    if (!members.delete(resource)) return;
    byCurrentId.drop(currentKey(resource), resource);
    for (const id of resource.previousIds) byPreviousId.drop(idKey(id), resource);
  };
  const inOrder = (resources: Iterable<Resource>): readonly Resource[] => {
    const distinct = [...new Set(resources)];
    if (distinct.length < 2) return distinct;
    return distinct.sort((left, right) => (members.get(left) ?? 0) - (members.get(right) ?? 0));
  };

  const set: ResourceSet = {
    get size() {
      return members.size;
    },
    list: () => [...members.keys()],
    has: (resource) => members.has(resource),
    add: (resource) => {
      if (byCurrentId.count(currentKey(resource)) > 0) throw duplicateId(currentId(resource));
      enter(resource);
    },
    update: (resource, object, fields) => {
      const before = currentKey(resource);
      const target = resource as Mutable<Resource>;
      target.object = object;
      if (fields !== undefined) Object.assign(target, fields);
      if (!members.has(resource)) return;
      const after = currentKey(resource);
      if (after === before) return;
      byCurrentId.drop(before, resource);
      byCurrentId.put(after, resource);
    },
    rememberId: (resource) => {
      const id = currentId(resource);
      (resource as Mutable<Resource>).previousIds = [...resource.previousIds, id];
      if (members.has(resource)) byPreviousId.put(idKey(id), resource);
    },
    remove: leave,
    replaceAll: (resources) => {
      for (const resource of members.keys()) leave(resource);
      for (const resource of resources) set.add(resource);
    },
    withCurrentId: (id) => inOrder(byCurrentId.get(idKey(id))),
    withAnyId: (id) => {
      const key = idKey(id);
      return inOrder([...byCurrentId.get(key), ...byPreviousId.get(key)]);
    },
    checkUnique: () => {
      for (const resource of members.keys()) {
        if (byCurrentId.count(currentKey(resource)) > 1) throw duplicateId(currentId(resource));
      }
    },
  };
  for (const resource of initial) set.add(resource);
  return set;
}

/** A copy with its own resources. */
export function copyResourceSet(set: ResourceSet): ResourceSet {
  return createResourceSet(set.list().map((resource) => createResource(resource.object, resource)));
}

function duplicateId(id: ResourceId): KustomizeError {
  return new KustomizeError('KYM_KUSTOMIZE_DUPLICATE', `two resources have the same id: ${describeId(id)}`, {
    hint: 'List each file once, or give one of the resources another name or namespace.',
  });
}

interface Index {
  get(key: string): readonly Resource[];
  count(key: string): number;
  put(key: string, resource: Resource): void;
  drop(key: string, resource: Resource): void;
}

function createIndex(): Index {
  const entries = new Map<string, Set<Resource>>();
  return {
    get: (key) => [...(entries.get(key) ?? [])],
    count: (key) => entries.get(key)?.size ?? 0,
    put: (key, resource) => {
      const entry = entries.get(key);
      if (entry === undefined) entries.set(key, new Set([resource]));
      else entry.add(resource);
    },
    drop: (key, resource) => {
      const entry = entries.get(key);
      entry?.delete(resource);
      if (entry?.size === 0) entries.delete(key);
    },
  };
}
