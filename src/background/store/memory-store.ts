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

  async function update(read: JsonObject, after: JsonObject, ref = refOf(after)): Promise<JsonObject> {
    const before = find(ref);
    if (before === undefined) throw new StoreError('notFound', `${refTitle(ref)} does not exist`);
    const version = metadataOf(before)['resourceVersion'];
    const known = metadataOf(read)['resourceVersion'];
    if (version !== undefined && known !== undefined && version !== known) {
      throw new StoreError('conflict', `${refTitle(ref)} has changed since it was read`);
    }
    const stored = withNextVersion(writePart(before, ref.subresource ?? '', after), version);
    held.set(refKey({ ...refOf(before) }), stored);
    return stored;
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
