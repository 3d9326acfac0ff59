import { assignMember, copyMembers } from '../../json/edit.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { SchemaNode } from '../../patch/merge-schema.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { looksTyped } from '../yaml/types.ts';
import { takeDirectiveOfNewMap, takeMapDirective } from './directive.ts';
import { type ItemMerge, mergeKeyedList } from './merge-list.ts';

/**
 * Strategic merge as kustomize does it, its peculiarities included: items of the patch come first, lists without
 * merge keys are replaced, and the whole object is walked, so that twins in a keyed list become one even where the
 * patch says nothing. The policy rule's merge keeps the order of the object instead and has anchors.
 *
 * Undefined when the patch deletes the object; the object itself (===) when nothing changes.
 */
export function mergeKustomizePatch(
  object: JsonObject,
  patch: JsonObject,
  schema: SchemaNode | undefined,
): JsonObject | undefined {
  const { directive, map } = takeMapDirective(patch);
  if (directive === 'delete') return undefined;
  // At the top of a resource kustomize pays no heed to `replace`, nor to the rest of such a patch.
  return directive === 'replace' ? object : mergeMembers(object, map, schema);
}

const items: ItemMerge = { value: mergeValue, members: mergeMembers };

/** The value that comes to stand there; undefined for none. */
function mergeValue(
  before: Json | undefined,
  patch: Json | undefined,
  schema: SchemaNode | undefined,
): Json | undefined {
  if (patch === undefined) return before === undefined ? undefined : settle(before, schema);
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
 * kustomize keeps the quotes of the text that a number or a truth is written over. Which texts had quotes is not known
 * here, except where they must have had some.
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
  // What is new is merged with itself, so that nulls and directives further down are carried out.
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
      if (field !== undefined) write(key, settle(before[key] as Json, field));
    }
  }
  return copy ?? before;
}

/** What the patch does not reach is walked too. */
function settle(value: Json, schema: SchemaNode | undefined): Json {
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
