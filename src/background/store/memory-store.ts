import { metadataOf } from '../../json/metadata.ts';
import type { Json, JsonObject } from '../../json/value.ts';
import { isNamespacedKind } from '../../policy/cluster-scoped-kinds.ts';
import { refKey, refOf, refTitle } from '../object-identity.ts';
import { type ObjectRef, type ObjectStore, StoreError } from '../ports.ts';
import { compileQuery } from './list-query.ts';
import { readPart, writePart } from './object-part.ts';

/** Objects in memory. */
export interface MemoryStore extends ObjectStore {
  /** The current objects, in insertion order. */
  objects(): readonly JsonObject[];
}

export function createMemoryStore(
  objects: Iterable<JsonObject>,
  isNamespaced?: ObjectStore['isNamespaced'],
): MemoryStore {
  const held = new Map<string, JsonObject>();
  for (const object of objects) held.set(refKey(refOf(object)), object);
  const definitions = () =>
    [...held.values()].filter((object) => object['kind'] === 'CustomResourceDefinition');
  const find = ({ subresource: _, ...ref }: ObjectRef) => held.get(refKey(ref));

  async function update(object: JsonObject, subresource = '', parent?: ObjectRef): Promise<JsonObject> {
    const ref = parent ?? refOf(object);
    const before = find(ref);
    if (before === undefined) throw new StoreError('notFound', `${refTitle(ref)} does not exist`);
    const version = metadataOf(before)['resourceVersion'];
    const read = metadataOf(object)['resourceVersion'];
    if (version !== undefined && read !== undefined && version !== read) {
      throw new StoreError('conflict', `${refTitle(ref)} has changed since it was read`);
    }
    const after = withNextVersion(writePart(before, subresource, object), version);
    held.set(refKey({ ...refOf(before) }), after);
    return after;
  }

  return {
    objects: () => [...held.values()],
    isNamespaced: isNamespaced ?? ((apiVersion, kind) => isNamespacedKind(apiVersion, kind, definitions())),
    async get(ref) {
      const object = find(ref);
      return object === undefined ? undefined : readPart(object, ref.subresource ?? '');
    },
    async list(query) {
      const selects = compileQuery(query);
      return [...held.values()].filter(selects);
    },
    async create(object) {
      const ref = refOf(object);
      if (find(ref) !== undefined) throw new StoreError('alreadyExists', `${refTitle(ref)} already exists`);
      held.set(refKey(ref), object);
      return object;
    },
    update,
    async remove(ref) {
      const { subresource: _, ...whole } = ref;
      held.delete(refKey(whole));
    },
  };
}

function withNextVersion(object: JsonObject, version: Json | undefined): JsonObject {
  if (typeof version !== 'string') return object;
  return { ...object, metadata: { ...metadataOf(object), resourceVersion: String(Number(version) + 1) } };
}
