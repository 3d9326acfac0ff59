import type { JsonObject } from '../../json/value.ts';
import { refKey, refOf } from '../object-identity.ts';
import type { ListQuery, ObjectReader } from '../ports.ts';

export interface SweepReader extends ObjectReader {
  /** What was written since: lists that were read show it. */
  wrote(object: JsonObject): void;
}

/** Reads each list once for a whole look at all triggers, and knows what was written meanwhile. */
export function createSweepReader(reader: ObjectReader): SweepReader {
  const lists = new Map<string, Promise<JsonObject[]>>();
  const changed = new Map<string, JsonObject>();
  const current = (object: JsonObject) => changed.get(refKey(refOf(object))) ?? object;
  return {
    get: (ref) => reader.get(ref),
    isNamespaced: (apiVersion, kind) => reader.isNamespaced(apiVersion, kind),
    async list(query) {
      const key = keyOf(query);
      const list = lists.get(key) ?? reader.list(query).then((items) => [...items]);
      lists.set(key, list);
      const items = await list;
      return changed.size === 0 ? items : items.map(current);
    },
    wrote: (object) => void changed.set(refKey(refOf(object)), object),
  };
}

function keyOf({ apiVersion, kind, subresource, namespace, labelSelector }: ListQuery): string {
  return JSON.stringify([apiVersion, kind, subresource ?? '', namespace ?? null, labelSelector ?? '']);
}
