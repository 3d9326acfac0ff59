import { equal } from '../../json/equal.ts';
import type { JsonObject } from '../../json/value.ts';
import { refKey, refOf, refTitle } from '../object-identity.ts';
import { type ObjectReader, type ObjectRef, type ObjectStore, StoreError } from '../ports.ts';
import { compileQuery } from './list-query.ts';
import { readPart, writePart } from './object-part.ts';

/** The pending change of one object. */
export interface Change {
  readonly ref: ObjectRef;
  /** Undefined for a new object. */
  readonly before?: JsonObject | undefined;
  /** Undefined for a deleted object. */
  readonly after?: JsonObject | undefined;
}

/** Keeps writes in memory, on top of a reader that is not changed. */
export interface OverlayStore extends ObjectStore {
  /** In the order of first writes. Objects that equal their original state are left out. */
  changes(): readonly Change[];
  /** The number of writes so far. Objects read before the last one may be stale. */
  writes(): number;
}

interface Held {
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
}

export function createOverlayStore(base: ObjectReader): OverlayStore {
  const held = new Map<string, Held>();
  let writes = 0;

  async function read(ref: ObjectRef): Promise<JsonObject | undefined> {
    const known = held.get(refKey(ref));
    return known === undefined ? base.get(ref) : known.after;
  }

  async function write(ref: ObjectRef, after: JsonObject | undefined): Promise<void> {
    const key = refKey(ref);
    const known = held.get(key);
    writes++;
    held.set(key, { before: known === undefined ? await base.get(ref) : known.before, after });
  }

  return {
    isNamespaced: (apiVersion, kind) => base.isNamespaced(apiVersion, kind),
    async get(ref) {
      const { subresource = '', ...whole } = ref;
      if (subresource !== '' && !held.has(refKey(whole))) return base.get(ref);
      const object = await read(whole);
      return object === undefined ? undefined : readPart(object, subresource);
    },
    async list(query) {
      const listed = await base.list(query);
      if (held.size === 0) return listed;
      const isWanted = compileQuery(query);
      const seen = new Set(listed.map((object) => refKey(refOf(object))));
      const replaced = listed.flatMap((object) => {
        const known = held.get(refKey(refOf(object)));
        return known === undefined ? [object] : known.after === undefined ? [] : [known.after];
      });
      const added = [...held].flatMap(([key, { after }]) =>
        after === undefined || seen.has(key) ? [] : [after],
      );
      return [...replaced, ...added].filter(isWanted);
    },
    async create(object) {
      const ref = identity(refOf(object));
      if ((await read(ref)) !== undefined) {
        throw new StoreError('alreadyExists', `${refTitle(ref)} already exists`);
      }
      await write(ref, object);
      return object;
    },
    async update(_, object, target = refOf(object)) {
      const ref = identity(target);
      const before = await read(ref);
      if (before === undefined) throw new StoreError('notFound', `${refTitle(ref)} does not exist`);
      const after = writePart(before, target.subresource ?? '', object);
      await write(ref, after);
      return after;
    },
    async remove(ref) {
      if ((await read(identity(ref))) !== undefined) await write(identity(ref), undefined);
    },
    writes: () => writes,
    changes: () => [...held].flatMap(([key, one]) => changeOf(key, one)),
  };
}

function identity({ apiVersion, kind, namespace, name }: ObjectRef): ObjectRef {
  return { apiVersion, kind, namespace, name };
}

function changeOf(key: string, { before, after }: Held): readonly Change[] {
  if (before === after || (before !== undefined && after !== undefined && equal(before, after))) return [];
  const [apiVersion = '', kind = '', namespace = '', name = ''] = JSON.parse(key) as string[];
  return [
    {
      ref: { apiVersion, kind, namespace, name },
      before,
      after,
    },
  ];
}
