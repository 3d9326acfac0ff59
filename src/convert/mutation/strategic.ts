import { isArray, isObject, type Json, type JsonObject } from '../../json/value.ts';
import { allOf, precedence, text, within } from '../expression/cel-text.ts';
import { type CelText, NotConvertible, type Scope } from '../types.ts';
import { configurationText } from './configuration.ts';
import { listSteps } from './list.ts';
import { add, createParent, remove, type Step, when } from './operations.ts';
import { type Entry, hasAnchor, hasConditions, type OverlayMap, readOverlayMap } from './overlay.ts';
import { anchorHolds } from './pattern.ts';
import { isFilled, isMissing, pointerText, rootPlace } from './place.ts';
import { fieldTarget, type KindSchema, type Target, type Work } from './target.ts';
import { freshText, recordingScope, scalarText, type Writing } from './value.ts';

/** A translated patch. */
export interface Patch {
  /** The patch has an effect only where this holds. */
  readonly guard: CelText;
  /** An expression for ApplyConfiguration; otherwise the patch is a JSONPatch. */
  readonly configuration?: string | undefined;
  readonly steps: readonly Step[];
}

/** Translates a strategic merge patch for objects of one kind. */
export function translateOverlay(overlay: JsonObject, path: string, scope: Scope, schema: KindSchema): Patch {
  const guards: CelText[] = [];
  const substituted: CelText[] = [];
  const recording = recordingScope(scope, substituted);
  const work: Work = { scope: recording, guards, patchGuards: guards, mapSteps, depth: 0 };
  const target: Target = { ...schema, place: rootPlace('object'), path };
  const configuration = configurationText(overlay, target, scope);
  const steps = mapSteps(
    overlay,
    target,
    configuration === undefined ? work : { ...work, scope: withoutVariables(recording) },
  );
  const isConditional =
    guards.length > 0 || hasAnchor(overlay, ['condition', 'global', 'add']) || hasItems(overlay);
  const forced = isConditional ? forcedValues(substituted) : [];
  return { guard: allOf([...forced, ...guards]), configuration, steps };
}

/** Evaluates values that may fail and that the patch may not write: the old rule substitutes all variables first. */
function forcedValues(substituted: readonly CelText[]): readonly CelText[] {
  const values = new Set(substituted.filter(({ total }) => total !== true).map(({ source }) => source));
  return [...values].map((source) => text(`size([${source}]) == 1`, 'bool', precedence.relation));
}

function hasItems(value: Json): boolean {
  if (!isObject(value)) return isArray(value) && value.some(isObject);
  return Object.values(value).some(hasItems);
}

/** The steps only collect the conditions when the patch becomes a configuration. */
function withoutVariables(scope: Scope): Scope {
  return {
    ...scope,
    variable: (_hint, expression) => expression,
    child: (bindings) => withoutVariables(scope.child(bindings)),
  };
}

/** The steps that merge a map. */
function mapSteps(map: JsonObject, target: Target, work: Work): readonly Step[] {
  const overlay = readOverlayMap(map, target.path);
  const { place } = target;
  for (const { key, pattern, path } of overlay.conditions) {
    const field = fieldTarget(target, key, path, work.scope);
    work.guards.push(
      anchorHolds({ place: field.place, schema: field.declared, path, scope: work.scope }, pattern),
    );
  }
  if (overlay.directive === 'delete') {
    if (overlay.entries.some(({ value }) => hasConditions(value))) {
      throw new NotConvertible(target.path, 'conditions inside a value that is deleted');
    }
    return [when(place.present, [remove(pointerText(place.pointer))])];
  }
  if (overlay.directive === 'replace') {
    const rest = Object.fromEntries(overlay.entries.map(({ key, value }) => [key, value]));
    const value = freshText(rest, { scope: work.scope, schema: target.declared, path: target.path });
    return [add(pointerText(place.pointer), value.source)];
  }
  const steps: Step[] = [];
  if (!place.isSure && createsMap(map, target)) {
    steps.push(createParent(isMissing(place), pointerText(place.pointer), '{}'));
  }
  for (const entry of overlay.entries) steps.push(...entrySteps(entry, target, work));
  return [...steps, ...deletionSteps(overlay, target)];
}

function entrySteps(entry: Entry, target: Target, work: Work): readonly Step[] {
  const { key, value, path, isAdded } = entry;
  const field = fieldTarget(target, key, path, work.scope);
  const pointer = pointerText(field.place.pointer);
  const self = work.depth === 0 ? field.place : undefined;
  const writing = { scope: work.scope, schema: field.declared, path, self };
  if (isAdded) {
    if (value === null) return [];
    const isScalar = !isObject(value) && !isArray(value);
    const added = isScalar
      ? scalarSteps(value, field, writing, [])
      : [add(pointer, freshText(value, writing).source)];
    return [when(`!${field.place.present}`, added)];
  }
  const deletion = when(field.place.present, [remove(pointer)]);
  if (value === null) return [deletion];
  const typed = isObject(value) && value['$patch'] === 'delete' ? [] : typeSteps(value, field);
  if (isObject(value)) return [...typed, ...mapSteps(value, field, work)];
  if (isArray(value)) return [...typed, ...listSteps(value, field, work)];
  return [...typed, ...scalarSteps(value, field, writing, [deletion])];
}

/** A merge fails where a custom resource has a value of another type than the patch. Its metadata has the types of all kinds. */
function typeSteps(value: Json, { checksTypes, place }: Target): readonly Step[] {
  if (checksTypes !== true || place.pointer[0] === 'metadata') return [];
  const type = `type(${place.optional}.orValue(null))`;
  const condition =
    isObject(value) || isArray(value)
      ? `${isMissing(place)} || ${type} == ${isObject(value) ? 'map' : 'list'}`
      : `!(${type} in [dyn(map), dyn(list)])`;
  return [{ type: 'assert', condition, steps: [] }];
}

/** Without a schema, a number or boolean becomes a string where it replaces one. */
function scalarSteps(
  value: Json,
  { declared, place }: Target,
  writing: Writing,
  ifNull: readonly Step[],
): readonly Step[] {
  const written = scalarText(value, writing);
  const { nullable, source } = written;
  const isPrinted = declared === undefined && typeof value !== 'string';
  const text = isPrinted
    ? `type(${place.optional}.orValue(null)) == string ? dyn('${String(value)}') : dyn(${source})`
    : source;
  const step = add(pointerText(place.pointer), text);
  return nullable === undefined
    ? [step]
    : [when(`${within(nullable, precedence.sum)} != null`, [step], ifNull)];
}

function deletionSteps({ deletions }: OverlayMap, target: Target): readonly Step[] {
  return deletions.map(({ field, values, path }) => {
    const { place } = fieldTarget(target, field, path);
    if (!isArray(values) || !values.every((value) => typeof value === 'string' && !value.includes('{{'))) {
      throw new NotConvertible(path, 'only constant strings can be deleted from a list');
    }
    const unwanted = `[${values.map((value) => `'${String(value)}'`).join(', ')}]`;
    const kept = `${place.read}.filter(value, !(value in ${unwanted}))`;
    return when(isFilled(place), [add(pointerText(place.pointer), kept)]);
  });
}

/** Whether the patch writes a map where there is none. A map with nothing but conditions creates nothing. */
function createsMap(map: JsonObject, target: Target): boolean {
  if (!hasConditions(map)) return true;
  const { entries } = readOverlayMap(map, target.path);
  return entries.some(({ key, value, isAdded, path }) => {
    if (isAdded) return true;
    if (value === null) return false;
    const field = fieldTarget(target, key, path);
    if (isObject(value)) return createsMap(value, field);
    return isArray(value) ? createsItems(value, field) : true;
  });
}

function createsItems(list: readonly Json[], { merge }: Target): boolean {
  if (!hasConditions(list as Json)) return true;
  const [key] = merge?.mergeKeys ?? [];
  return list.some(
    (item) => !isObject(item) || (key !== undefined && Object.hasOwn(item, key) && !hasConditions(item)),
  );
}
