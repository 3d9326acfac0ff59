import type { ObjectReader } from '../../background/ports.ts';
import { isArray, isObject, type Json, type JsonArray, type JsonObject, member } from '../../json/value.ts';
import { idOf } from '../../kustomize/resource/resource.ts';

/**
 * The live objects with the same ids, reduced to the fields that the given objects set. Fields that the server defaulted are not
 * differences.
 */
export async function liveObjects(
  objects: readonly JsonObject[],
  cluster: Pick<ObjectReader, 'get' | 'isNamespaced'>,
): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  for (const object of objects) {
    const { group, version, kind, name, namespace } = idOf(object);
    const apiVersion = group === '' ? version : `${group}/${version}`;
    const isNamespaced = cluster.isNamespaced(apiVersion, kind);
    if (isNamespaced === undefined) continue;
    const where = isNamespaced ? namespace || 'default' : '';
    const live = await cluster.get({ apiVersion, kind, name, namespace: where });
    if (live !== undefined) found.push(stated(live, object) as JsonObject);
  }
  return found;
}

/** The part of a live value whose fields are set in the wanted value. */
export function stated(live: Json, wanted: Json): Json {
  if (isObject(live) && isObject(wanted)) {
    const members = Object.keys(wanted).flatMap((key) => {
      const value = member(live, key);
      if (value === undefined) return [];
      const part = stated(value, wanted[key] as Json);
      return isEmptyMap(part) && !isEmptyMap(value) ? [] : [[key, part] as const];
    });
    return Object.fromEntries(members);
  }
  return isArray(live) && isArray(wanted) ? statedItems(live, wanted) : live;
}

/** Without this, a map without any compared member would look like an empty map in the cluster. */
function isEmptyMap(value: Json): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

/** Items are compared by name if they have one, otherwise by index. All live items are kept. */
function statedItems(live: JsonArray, wanted: JsonArray): JsonArray {
  return live.map((item, index) => {
    const counterpart = wanted.find((other) => isSameItem(item, other)) ?? wanted[index];
    return counterpart === undefined ? item : stated(item, counterpart);
  });
}

function isSameItem(left: Json, right: Json): boolean {
  if (!isObject(left) || !isObject(right)) return false;
  const name = member(left, 'name');
  return name !== undefined && name === member(right, 'name');
}
