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
 * The resources of a build, in order. Looking one up by an id costs the same however many there are, so every
 * change goes through the set, which keeps its index in step.
 */
export interface ResourceSet {
  readonly size: number;
  /** The resources in order; a snapshot, safe to change the set while walking it. */
  list(): readonly Resource[];
  has(resource: Resource): boolean;
  /** Appends; throws when a resource has the same current id. */
  add(resource: Resource): void;
  /** Gives a resource a new object, or new notes beside it. Two resources may share an id meanwhile. */
  update(resource: Resource, object: JsonObject, notes?: Partial<Omit<Resource, 'object'>>): void;
  /** Notes the current id as a previous one: to be called before a change of name, namespace or kind. */
  rememberId(resource: Resource): void;
  remove(resource: Resource): void;
  /** Takes these, in this order, in place of what it had; throws when two have one id. */
  replaceAll(resources: readonly Resource[]): void;
  withCurrentId(id: ResourceId): readonly Resource[];
  /** Those with this id now or before, in the order of the set. */
  withAnyId(id: ResourceId): readonly Resource[];
  /** Throws when two resources have the same current id. */
  checkUnique(): void;
}

/**
 * A record whose fields change in place; only the set that holds it does so.
 */
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
    update: (resource, object, notes) => {
      const before = currentKey(resource);
      const target = resource as Mutable<Resource>;
      target.object = object;
      if (notes !== undefined) Object.assign(target, notes);
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

/** A copy with resources of its own, so that changes of one do not reach the other. */
export function copyResourceSet(set: ResourceSet): ResourceSet {
  return createResourceSet(set.list().map((resource) => createResource(resource.object, resource)));
}

function duplicateId(id: ResourceId): KustomizeError {
  return new KustomizeError('KYM_KUSTOMIZE_DUPLICATE', `two resources have one id: ${describeId(id)}`);
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
