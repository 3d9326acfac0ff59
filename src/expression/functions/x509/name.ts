import type { Json, JsonObject } from '../../../json/value.ts';
import { child, children, type Der, readOid, readText } from './der.ts';

const listFields: ReadonlyMap<string, string> = new Map([
  ['2.5.4.6', 'Country'],
  ['2.5.4.10', 'Organization'],
  ['2.5.4.11', 'OrganizationalUnit'],
  ['2.5.4.7', 'Locality'],
  ['2.5.4.8', 'Province'],
  ['2.5.4.9', 'StreetAddress'],
  ['2.5.4.17', 'PostalCode'],
]);
const textFields: ReadonlyMap<string, string> = new Map([
  ['2.5.4.5', 'SerialNumber'],
  ['2.5.4.3', 'CommonName'],
]);

/** A distinguished name in the shape Go gives it. */
export function readName(name: Der): JsonObject {
  const lists = new Map<string, Json[]>();
  const texts = new Map<string, string>();
  const names: Json[] = [];
  for (const attribute of children(name).flatMap(children)) {
    const parts = children(attribute);
    const type = readOid(child(parts, 0));
    const text = readText(child(parts, 1));
    names.push({ Type: type, Value: text });
    const list = listFields.get(type.join('.'));
    if (list !== undefined) lists.set(list, [...(lists.get(list) ?? []), text]);
    const field = textFields.get(type.join('.'));
    if (field !== undefined) texts.set(field, text);
  }
  return {
    ...Object.fromEntries([...listFields.values()].map((field) => [field, lists.get(field) ?? null])),
    ...Object.fromEntries([...textFields.values()].map((field) => [field, texts.get(field) ?? ''])),
    Names: names.length === 0 ? null : names,
    ExtraNames: null,
  };
}
