import { assignMember, copyMembers } from '../../json/edit.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { SchemaNode } from '../../patch/merge-schema.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { looksTyped } from '../yaml/types.ts';
import { takeDirectiveOfNewMap, takeMapDirective } from './directive.ts';
import { type ItemMerge, mergeKeyedList } from './merge-list.ts';

/**
 * Strategic merge with kustomize's behavior: patch items come first, lists without merge keys are replaced, and duplicates
 * in any keyed list of the object become one. Policy rules use another merge, which keeps the order and supports anchors.
 *
 * Undefined if the patch deletes the object; the same object (===) if nothing changes.
 */
export function mergeKustomizePatch(
  object: JsonObject,
  patch: JsonObject,
  schema: SchemaNode | undefined,
): JsonObject | undefined {
  const { directive, map } = takeMapDirective(patch);
  if (directive === 'delete') return undefined;
  // At the top level kustomize ignores `replace` and the rest of such a patch.
  return directive === 'replace' ? object : mergeMembers(object, map, schema);
}

const items: ItemMerge = { value: mergeValue, members: mergeMembers };

/** The merged value; undefined removes it. */
function mergeValue(
  before: Json | undefined,
  patch: Json | undefined,
  schema: SchemaNode | undefined,
): Json | undefined {
  if (patch === undefined) return before === undefined ? undefined : mergeDuplicates(before, schema);
  if (patch === null) return undefined;
  if (before !== undefined && before !== null && shapeOf(before) !== shapeOf(patch)) {
    throw wrongShape(before, patch);
  }
  if (isObject(patch)) return mergeMap(isObject(before) ? before : undefined, patch, schema);
  if (!isArray(patch)) return scalarOver(before, patch);
  if (schema?.mergeKeys === undefined) return patch;
  return mergeKeyedList(isArray(before) ? before : undefined, patch, schema.mergeKeys, schema.items, items);
}

/**
 * kustomize keeps the quotes of a string that a number or boolean replaces. Quotes are only known here for strings that
 * need them.
 */
function scalarOver(before: Json | undefined, patch: Json): Json {
  if (typeof before !== 'string' || typeof patch === 'string') return patch;
  return looksTyped(before) ? String(patch) : patch;
}

function mergeMap(
  before: JsonObject | undefined,
  patch: JsonObject,
  schema: SchemaNode | undefined,
): JsonObject | undefined {
  const { directive, map } = before === undefined ? takeDirectiveOfNewMap(patch) : takeMapDirective(patch);
  if (directive === 'delete') return undefined;
  // A new map is merged with itself, to apply nulls and directives inside.
  const isNew = directive === 'replace' || before === undefined || before === patch;
  return mergeMembers(isNew ? map : before, map, schema);
}

function mergeMembers(before: JsonObject, patch: JsonObject, schema: SchemaNode | undefined): JsonObject {
  let copy: Record<string, Json> | undefined;
  const write = (key: string, value: Json | undefined) => {
    if (value === member(before, key)) return;
    copy ??= copyMembers(before);
    if (value === undefined) delete copy[key];
    else assignMember(copy, key, value);
  };
  for (const key of Object.keys(patch)) {
    const inner = patch[key] as Json;
    write(key, mergeValue(member(before, key), inner, schema?.fields.get(key)));
  }
  if (schema !== undefined && before !== patch) {
    for (const key of Object.keys(before)) {
      if (Object.hasOwn(patch, key)) continue;
      const field = schema.fields.get(key);
      if (field !== undefined) write(key, mergeDuplicates(before[key] as Json, field));
    }
  }
  return copy ?? before;
}

/** Also merges duplicates in fields that the patch does not contain. */
function mergeDuplicates(value: Json, schema: SchemaNode | undefined): Json {
  if (schema === undefined || typeof value !== 'object' || value === null) return value;
  if (isObject(value)) return schema.fields.size === 0 ? value : mergeMembers(value, {}, schema);
  if (schema.mergeKeys === undefined || !isArray(value)) return value;
  return mergeKeyedList(value, undefined, schema.mergeKeys, schema.items, items) ?? value;
}

function shapeOf(value: Json): 'list' | 'map' | 'scalar' {
  if (isArray(value)) return 'list';
  return isObject(value) ? 'map' : 'scalar';
}

function wrongShape(before: Json, patch: Json): KustomizeError {
  return new KustomizeError(
    'KYM_KUSTOMIZE_PATCH',
    `the patch has a ${shapeOf(patch)} where the resource has a ${shapeOf(before)}`,
  );
}
