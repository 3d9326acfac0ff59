import { usesVariables } from '../../expression/template/template.ts';
import { hasVariable, unescapeBraces } from '../../expression/template/tokens.ts';
import { equal } from '../../json/equal.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { isObject, type Json, type JsonObject, member, type Path } from '../../json/value.ts';
import type { SchemaNode } from '../../patch/merge-schema.ts';

/** One step of a path that a rule may write. */
export type WriteStep =
  /** A member of this name; in a list, the item at this index. */
  | { readonly type: 'key'; readonly name: string }
  /** The items of a list with these members, such as a merge key, or those equal to a scalar. */
  | { readonly type: 'item'; readonly where: Json }
  /** Any member or item: an anchor, a loop or a variable decides which. */
  | { readonly type: 'any' };

/** One path that a rule may write, with everything below it. */
export interface Write {
  readonly path: readonly WriteStep[];
  /** `default` writes only absent values, `item` adds a list item unless one matches, `remove` deletes. */
  readonly effect: 'set' | 'default' | 'item' | 'remove';
  /** The written value, unless it depends on a variable. */
  readonly value?: Json | undefined;
  /** Path in the rule. */
  readonly source: Path;
}

/** The merge schema of a kind: `custom` has no merged lists, for `unknown` nothing is known. */
export type WriteSchema = SchemaNode | 'custom' | 'unknown';

export const anyStep: WriteStep = { type: 'any' };

export function keyStep(name: string): WriteStep {
  return { type: 'key', name };
}

/** A member whose name may contain variables. */
export function memberStep(name: string): WriteStep {
  return hasVariable(name) ? anyStep : keyStep(unescapeBraces(name));
}

/** The constant value; undefined when it depends on variables. */
export function constantOf(value: Json): Json | undefined {
  if (usesVariables(value)) return undefined;
  return typeof value === 'string' ? unescapeBraces(value) : value;
}

export function writeOf(
  path: readonly WriteStep[],
  effect: Write['effect'],
  source: Path,
  value?: Json,
): Write {
  return { path, effect, source, value };
}

export function fieldSchema(schema: WriteSchema, step: WriteStep): WriteSchema {
  if (typeof schema === 'string') return schema;
  return (step.type === 'key' ? schema.fields.get(step.name) : undefined) ?? plainSchema;
}

/** Fields that are not in the table are not merged by key. */
const plainSchema: SchemaNode = { fields: new Map() };

export function itemSchema(schema: WriteSchema): WriteSchema {
  return typeof schema === 'string' ? schema : (schema.items ?? plainSchema);
}

export function sameStep(left: WriteStep, right: WriteStep): boolean {
  if (left.type === 'key') return right.type === 'key' && left.name === right.name;
  if (left.type === 'item') return right.type === 'item' && equal(left.where, right.where);
  return right.type === 'any';
}

/** Whether a step leads to this member or item. Like merge keys, members of an item are compared as strings. */
export function stepFits(step: WriteStep, token: string | number, value: Json | undefined): boolean {
  if (step.type === 'any') return true;
  if (step.type === 'key') return step.name === String(token);
  return itemFits(step.where, value);
}

export function itemFits(where: Json, item: Json | undefined): boolean {
  if (!isObject(where)) return item !== undefined && equal(where, item);
  return isObject(item) && Object.entries(where).every(([key, wanted]) => hasText(item, key, wanted));
}

function hasText(item: JsonObject, key: string, wanted: Json): boolean {
  const actual = member(item, key);
  return actual !== undefined && typeof actual !== 'object' && String(actual) === String(wanted);
}

/** Formatted for messages: `spec.containers[name=side].env[*]`. */
export function formatSteps(path: readonly WriteStep[]): string {
  let text = '';
  for (const step of path) {
    if (step.type === 'any') text += '[*]';
    else if (step.type === 'item') text += `[${formatWhere(step.where)}]`;
    else if (/^[\w-]+$/.test(step.name)) text += text === '' ? step.name : `.${step.name}`;
    else text += `[${JSON.stringify(step.name)}]`;
  }
  return text;
}

function formatWhere(where: Json): string {
  if (!isObject(where)) return `=${stringifyJson(where)}`;
  return Object.entries(where)
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(',');
}
