import type { JsonObject } from '../../json/value.ts';
import type { ObjectReader } from '../ports.ts';

/** Asks for each list once, however many rules and targets look at it. For one run: what is read is not read again. */
export function sharedReads(reader: ObjectReader): ObjectReader {
  const lists = new Map<string, Promise<readonly JsonObject[]>>();
  return {
    get: (ref) => reader.get(ref),
    isNamespaced: (apiVersion, kind) => reader.isNamespaced(apiVersion, kind),
    list(query) {
      const key = JSON.stringify([
        query.apiVersion,
        query.kind,
        query.subresource ?? '',
        query.namespace ?? null,
        query.labelSelector ?? '',
      ]);
      const known = lists.get(key);
      if (known !== undefined) return known;
      const list = reader.list(query);
      lists.set(key, list);
      return list;
    },
  };
}
