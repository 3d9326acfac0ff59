import { findVariables } from '../../expression/template/tokens.ts';
import {
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  type Path,
} from '../../json/value.ts';
import { type Anchor, parseAnchor } from '../../patch/strategic/anchor-syntax.ts';
import { addedPart } from '../../patch/strategic/condition-parts.ts';
import {
  anyStep,
  constantOf,
  fieldSchema,
  formatSteps,
  itemSchema,
  keyStep,
  memberStep,
  type Write,
  type WriteSchema,
  type WriteStep,
  writeOf,
} from './write-step.ts';

/** A foreach around a patch. */
export interface LoopNames {
  readonly list: string;
  readonly as?: string | undefined;
}

interface Place {
  readonly steps: readonly WriteStep[];
  readonly source: Path;
  readonly schema: WriteSchema;
  /** Below `+()`, values are written only where the anchored key is absent. */
  readonly effect: 'set' | 'default';
  readonly loops: readonly LoopNames[];
}

/** The writes of a strategic merge overlay. */
export function overlayWrites(
  overlay: JsonObject,
  source: Path,
  schema: WriteSchema,
  loops: readonly LoopNames[],
): readonly Write[] {
  return mapWrites(overlay, { steps: [], source, schema, effect: 'set', loops });
}

function nodeWrites(value: Json, place: Place): readonly Write[] {
  if (isArray(value)) return listWrites(value, place);
  if (isObject(value)) {
    const isEmpty = Object.keys(value).length === 0;
    return isEmpty ? [writeOf(place.steps, 'default', place.source, {})] : mapWrites(value, place);
  }
  if (value === null) return [writeOf(place.steps, 'remove', place.source)];
  return [whole(value, place)];
}

function whole(value: Json, { steps, source, effect }: Place): Write {
  return writeOf(steps, effect, source, constantOf(value));
}

function mapWrites(map: JsonObject, place: Place): readonly Write[] {
  const directive = map['$patch'];
  if (directive === 'delete') return [writeOf(place.steps, 'remove', place.source)];
  if (directive === 'replace') return [writeOf(place.steps, 'set', place.source)];
  return Object.entries(map).flatMap(([text, value]) => {
    const source = [...place.source, text];
    if (text.startsWith('$')) {
      const field = directiveTarget(text);
      if (field !== undefined) return [writeOf([...place.steps, field], 'set', source)];
      if (text === '$patch') return [];
    }
    const anchor = parseAnchor(text);
    const written = isCondition(anchor) ? addedPart(value) : value;
    if (written === undefined) return [];
    const step = memberStep(anchor?.key ?? text);
    return nodeWrites(written, {
      ...place,
      source,
      steps: [...place.steps, step],
      schema: fieldSchema(place.schema, step),
      effect: anchor?.type === 'add' ? 'default' : place.effect,
    });
  });
}

/** The writes of a strategic merge directive; undefined for any other key. */
function directiveTarget(text: string): WriteStep | undefined {
  if (text === '$retainKeys') return anyStep;
  const field = /^\$(?:setElementOrder|deleteFromPrimitiveList)\/(.+)$/s.exec(text)?.[1];
  return field === undefined ? undefined : keyStep(field);
}

function isCondition(anchor: Anchor | undefined): boolean {
  return anchor?.type === 'condition' || anchor?.type === 'global';
}

function listWrites(list: JsonArray, place: Place): readonly Write[] {
  const { schema } = place;
  const directive = list.find((item) => isObject(item) && Object.keys(item).join() === '$patch');
  const word = isObject(directive) ? directive['$patch'] : undefined;
  if (word === 'delete') return [writeOf(place.steps, 'remove', place.source)];
  if (word === 'replace' || schema === 'unknown') return [writeOf(place.steps, place.effect, place.source)];
  const keys = schema === 'custom' ? undefined : schema.mergeKeys;
  if (keys === undefined && !holdsAnchor(list)) return [whole(list, place)];
  if (list.length === 0) return [writeOf(place.steps, 'default', place.source, [])];
  return list.flatMap((item, index) =>
    itemWrites(item, keys, { ...place, source: [...place.source, index] }),
  );
}

function itemWrites(item: Json, keys: readonly string[] | undefined, place: Place): readonly Write[] {
  if (!isObject(item)) return [addedItem(item, place)];
  const wanted = keys === undefined ? undefined : keysOf(item, keys);
  const conditions = Object.entries(item).filter(([key]) => isCondition(parseAnchor(key)));
  if (conditions.length > 0 || (wanted === undefined && holdsAnchor(item))) {
    const renames = keys?.includes('name') !== true;
    const entries = Object.entries(item).filter(([key]) => renames || key !== 'name');
    const step = literalStep(conditions);
    return mapWrites(Object.fromEntries(entries), inItem(step, place));
  }
  if (wanted === undefined) return keys === undefined ? [addedItem(item, place)] : [];
  const step: WriteStep = wanted === 'variable' ? anyStep : { type: 'item', where: wanted };
  const mayAdd =
    item['$patch'] !== 'delete' && !holdsCondition(item) && !(keys && isElement(item, keys, place));
  if (mayAdd) {
    const added = writeOf([...place.steps, step], 'item', place.source, constantOf(item));
    return [added, ...mapWrites(item, inItem(step, place))];
  }
  return mapWrites(withoutFirstKey(item, keys), inItem(step, place));
}

/** A value that identifies an item is not written to it. */
function withoutFirstKey(item: JsonObject, keys: readonly string[] | undefined): JsonObject {
  const first = keys?.[0];
  if (first === undefined || typeof item[first] !== 'string') return item;
  return Object.fromEntries(Object.entries(item).filter(([key]) => key !== first));
}

function inItem(step: WriteStep, place: Place): Place {
  return { ...place, steps: [...place.steps, step], schema: itemSchema(place.schema) };
}

/** A plain item next to anchored ones, or a scalar of a set: added unless present. */
function addedItem(item: Json, place: Place): Write {
  const value = constantOf(item);
  const step: WriteStep = value === undefined ? anyStep : { type: 'item', where: value };
  return writeOf([...place.steps, step], 'item', place.source, value);
}

/** The merge keys of an item; undefined without the first one. */
function keysOf(item: JsonObject, keys: readonly string[]): JsonObject | 'variable' | undefined {
  const [first] = keys;
  if (first === undefined || !isScalar(item[first])) return undefined;
  const stated = keys.flatMap((key) => (isScalar(item[key]) ? [[key, item[key] ?? null] as const] : []));
  const known = stated.flatMap(([key, value]) => {
    const constant = constantOf(value);
    return constant === undefined ? [] : [[key, constant] as const];
  });
  return known.length === stated.length ? Object.fromEntries(known) : 'variable';
}

function isScalar(value: Json | undefined): boolean {
  return value !== undefined && value !== null && typeof value !== 'object';
}

/** Conditions that compare a member with a literal identify the item. */
function literalStep(conditions: readonly (readonly [string, Json])[]): WriteStep {
  const members = conditions.flatMap(([text, value]) => {
    const key = parseAnchor(text)?.key ?? '';
    return typeof value === 'string' && /^[A-Za-z][\w-]*$/.test(value) ? [[key, value] as const] : [];
  });
  return members.length === 0 ? anyStep : { type: 'item', where: Object.fromEntries(members) };
}

/** `name: {{ element.name }}` in a loop over the same list: the item is there, so none is added. */
function isElement(item: JsonObject, keys: readonly string[], { steps, loops }: Place): boolean {
  const key = keys[0] ?? '';
  const text = item[key];
  if (typeof text !== 'string') return false;
  const [variable] = findVariables(text);
  const isWhole = variable !== undefined && variable.end - variable.start === text.length;
  const list = formatSteps(steps);
  return loops.some(({ list: over, as }) => {
    const source = /^(?:request\.object|target)\.([\w.-]+?)(?:\[\]|\[\?.*\])?$/s.exec(over.trim())?.[1];
    const names = [`element.${key}`, ...(as === undefined ? [] : [`${as}.${key}`])];
    return isWhole && source === list && names.includes(variable.expression);
  });
}

/** Any anchor, at any depth. */
function holdsAnchor(value: Json): boolean {
  return holds(value, (anchor) => anchor !== undefined);
}

function holdsCondition(value: Json): boolean {
  return holds(value, isCondition);
}

function holds(value: Json, test: (anchor: Anchor | undefined) => boolean): boolean {
  if (isArray(value)) return value.some((item) => holds(item, test));
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, inner]) => test(parseAnchor(key)) || holds(inner, test));
}
