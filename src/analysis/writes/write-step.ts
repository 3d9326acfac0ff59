import { usesVariables } from '../../expression/template/template.ts';
import { hasVariable, unescapeBraces } from '../../expression/template/tokens.ts';
import { equal } from '../../json/equal.ts';
import { isObject, type Json, type JsonObject, member, type Path } from '../../json/value.ts';
import type { SchemaNode } from '../../patch/merge-schema.ts';

/** One step from the root of an object towards a place that a rule may write. */
export type WriteStep =
  /** A member of this name; in a list, the item at this index. */
  | { readonly type: 'key'; readonly name: string }
  /** The items of a list with these members, such as a merge key, or those equal to a scalar. */
  | { readonly type: 'item'; readonly where: Json }
  /** Any member or item: which one is decided by an anchor, a loop or a variable. */
  | { readonly type: 'any' };

/** One place that a rule may write, and all below it. */
export interface Write {
  readonly path: readonly WriteStep[];
  /** `default` writes where nothing is, `item` adds a list item where none fits, `remove` takes away. */
  readonly effect: 'set' | 'default' | 'item' | 'remove';
  /** What is written, unless a variable decides. */
  readonly value?: Json | undefined;
  /** Where in the rule it is written. */
  readonly source: Path;
}

/** What is known of the lists of a kind: `custom` has none that are merged, of `unknown` nothing is known. */
export type WriteSchema = SchemaNode | 'custom' | 'unknown';

export const anyStep: WriteStep = { type: 'any' };

export function keyStep(name: string): WriteStep {
  return { type: 'key', name };
}

/** A member whose name may hold variables. */
export function memberStep(name: string): WriteStep {
  return hasVariable(name) ? anyStep : keyStep(unescapeBraces(name));
}

/** The value that stands there for every request; undefined when variables decide. */
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

/** Of fields that the table leaves out, none is merged by key. */
const plainSchema: SchemaNode = { fields: new Map() };

export function itemSchema(schema: WriteSchema): WriteSchema {
  return typeof schema === 'string' ? schema : (schema.items ?? plainSchema);
}

export function sameStep(left: WriteStep, right: WriteStep): boolean {
  if (left.type === 'key') return right.type === 'key' && left.name === right.name;
  if (left.type === 'item') return right.type === 'item' && equal(left.where, right.where);
  return right.type === 'any';
}

/** Whether a step leads to this member or item. Members of an item compare as text, as merge keys do. */
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

/** For people: `spec.containers[name=side].env[*]`. */
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
  if (!isObject(where)) return `=${JSON.stringify(where)}`;
  return Object.entries(where)
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(',');
}
