import type { JsonObject } from '../../json/value.ts';
import { refKey, refOf } from '../object-identity.ts';
import type { ListQuery, ObjectReader } from '../ports.ts';

export interface ListCache extends ObjectReader {
  /** Records a written object, so that cached lists return it. */
  wrote(object: JsonObject): void;
}

/** Reads each list once, for all targets and triggers of one run. */
export function createListCache(reader: ObjectReader): ListCache {
  const lists = new Map<string, Promise<readonly JsonObject[]>>();
  const written = new Map<string, JsonObject>();
  return {
    get: (ref) => reader.get(ref),
    isNamespaced: (apiVersion, kind) => reader.isNamespaced(apiVersion, kind),
    async list(query) {
      const key = keyOf(query);
      const list = lists.get(key) ?? reader.list(query);
      lists.set(key, list);
      const items = await list;
      return written.size === 0 ? items : items.map((item) => written.get(refKey(refOf(item))) ?? item);
    },
    wrote: (object) => void written.set(refKey(refOf(object)), object),
  };
}

function keyOf({ apiVersion, kind, resource, subresource, namespace, labelSelector }: ListQuery): string {
  const selected = [apiVersion, kind, resource ?? null, subresource ?? ''];
  return JSON.stringify([...selected, namespace ?? null, labelSelector ?? '']);
}
