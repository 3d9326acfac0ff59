import { assertTypeName, assertTypeNames } from '../../cel/library/object.ts';
import { toJson } from '../../cel/value/json.ts';
import { isList, isPlainObject } from '../../cel/value/kinds.ts';
import { SpecialValue, StructValue, type Value, type ValueObject } from '../../cel/value/value.ts';
import { spendSteps } from '../../json/budget.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { member, type Path, type PathToken, typeOf } from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';
import type { AnySchema, ListSchema, MapSchema, ScalarSchema, StructuredSchema } from './schema.ts';

/** `.spec.containers[0].args`, as the API server writes paths. */
export function formatFieldPath(path: Path): string {
  return path.map((token) => (typeof token === 'number' ? `[${token}]` : `.${token}`)).join('');
}

export function structuredError(path: Path, message: string): PatchError {
  return new PatchError('KYM_APPLY_CONFIGURATION', path, `${formatFieldPath(path)}: ${message}`);
}

/** What a check finds besides errors. */
export interface Findings {
  /** Paths of atomic lists, maps and structs. */
  readonly atomics?: string[] | undefined;
  /** What the author hardly meant. */
  readonly warnings: string[];
}

const mostWarnings = 10;

/**
 * Checks a configuration, the value of an expression or JSON, against the schema of its kind. Throws PatchError for an unknown
 * field, a value of another type, null, and keys or set items that occur twice, and CelError for what an expression may not build.
 */
export function checkConfiguration(configuration: Value, schema: StructuredSchema, found: Findings): void {
  check(configuration, schema, rootPlace(schema, found));
}

/** Where a check is: one for all steps, because paths are needed only in messages. */
export interface Place {
  readonly root: StructuredSchema;
  readonly path: PathToken[];
  /** The type name of the struct around, which is empty at the root, and the field in it. */
  owner: string;
  field: string;
  readonly found: Findings;
}

export function rootPlace(schema: StructuredSchema, found: Findings): Place {
  return { root: schema, path: [], owner: '', field: '', found };
}

/** Checks the value at a place, with all its parts. */
export function check(value: Value, schema: StructuredSchema, place: Place): void {
  spendSteps(1);
  if (value === null) throw structuredError(place.path, 'null is not a value; leave the field out');
  if (value instanceof SpecialValue) {
    if (!(value instanceof StructValue)) {
      check(toJson(value), schema, place);
      return;
    }
    checkTypeName(value, place);
  }
  switch (schema.kind) {
    case 'scalar':
      checkScalar(value, schema, place.path);
      return;
    case 'list':
      checkList(value, schema, place);
      return;
    case 'map':
      if (!isObjectValue(value)) throw structuredError(place.path, `expected map, got ${describe(value)}`);
      if (schema.atomic) findAtomic(place);
      checkMembers(value, schema, place);
      return;
    case 'any':
      if (schema.atomic && typeof value === 'object') findAtomic(place);
      if (isObjectValue(value)) checkMembers(value, schema, place);
      else if (isList(value)) assertTypeNames(value, place.owner, place.field);
  }
}

/** Throws CelError if the type of the struct does not follow the names of the fields. */
export function checkTypeName(value: StructValue, { owner, field }: Place): void {
  if (owner !== '') assertTypeName(value, owner, field);
}

/** The API server looks for atomics only in declared fields. */
function findAtomic({ root, path, found }: Place): void {
  if (found.atomics === undefined) return;
  let schema: StructuredSchema | undefined = root;
  for (const token of path) {
    if (schema?.kind === 'list') schema = schema.items;
    else {
      const name = String(token);
      if (schema?.kind !== 'map' || !schema.declares(name)) return;
      schema = schema.field(name);
    }
  }
  found.atomics.push(formatFieldPath(path));
}

function checkMembers(value: StructValue | ValueObject, schema: MapSchema | AnySchema, place: Place): void {
  if (!(value instanceof StructValue)) {
    for (const key in value) checkMember(key, value[key] as Value, schema, place);
    return;
  }
  const { typeName, names, values } = value;
  const { owner, field } = place;
  for (let index = 0; index < names.length; index++) {
    const item = values[index];
    if (item === undefined) continue;
    const name = names[index] as string;
    place.owner = typeName;
    place.field = name;
    checkMember(name, item, schema, place);
  }
  place.owner = owner;
  place.field = field;
}

function checkMember(key: string, value: Value, schema: MapSchema | AnySchema, place: Place): void {
  check(value, enterField(key, schema, place), place);
  place.path.pop();
}

/** Adds the field to the path. Returns its schema; throws PatchError for an unknown field. */
export function enterField(key: string, schema: MapSchema | AnySchema, { path }: Place): StructuredSchema {
  path.push(key);
  const field = schema.kind === 'any' ? schema : schema.field(key);
  if (field === undefined) throw unknownField(schema as MapSchema, path);
  return field;
}

function unknownField(schema: MapSchema, path: Path): PatchError {
  const names = schema.fieldNames.slice(0, 30).join(', ');
  return structuredError(
    path,
    `field not declared in schema${names === '' ? '' : `; declared are ${names}`}`,
  );
}

function checkScalar(value: Value, { scalar }: ScalarSchema, path: Path): void {
  const fits =
    scalar === 'untyped'
      ? typeof value !== 'object'
      : scalar === 'number'
        ? typeof value === 'number' || typeof value === 'bigint'
        : typeof value === scalar;
  if (fits) return;
  const expected =
    scalar === 'number' ? 'numeric (int or float)' : scalar === 'untyped' ? 'a scalar' : scalar;
  throw structuredError(path, `expected ${expected}, got ${describe(value)}`);
}

function checkList(value: Value, schema: ListSchema, place: Place): void {
  const { path } = place;
  if (!isList(value)) throw structuredError(path, `expected list, got ${describe(value)}`);
  if (schema.merge === 'atomic') findAtomic(place);
  const seen = identitiesFor(value);
  for (let index = 0; index < value.length; index++) {
    path.push(index);
    check(value[index] as Value, schema.items, place);
    checkIdentity(value, index, schema, place, seen);
    path.pop();
  }
}

/** Where `checkIdentity` collects the items of a list. Comparing a few items is faster, and most lists are short. */
export function identitiesFor(list: readonly Value[]): Set<string> | undefined {
  return list.length > 8 ? new Set() : undefined;
}

/** Warns about an item without its key, and throws PatchError for one that occurs before. The path ends with its index. */
export function checkIdentity(
  list: readonly Value[],
  index: number,
  schema: ListSchema,
  { path, found }: Place,
  seen: Set<string> | undefined,
): void {
  const item = list[index] as Value;
  warnAboutKeys(item, schema, path, found);
  if (schema.merge === 'atomic' || list.length === 1 || !occursBefore(list, index, schema, path, seen))
    return;
  throw structuredError(path.slice(0, -1), `duplicate entries for key ${formatKey(item, schema)}`);
}

/** Whether an item before has the same identity. Throws PatchError for an item without an identity. */
function occursBefore(
  list: readonly Value[],
  index: number,
  schema: ListSchema,
  path: Path,
  seen: Set<string> | undefined,
): boolean {
  const item = list[index] as Value;
  if (seen !== undefined || index === 0) {
    const identity = itemIdentity(item, schema, path);
    return seen !== undefined && seen.size === seen.add(identity).size;
  }
  for (let before = 0; before < index; before++) {
    if (areSameItem(list[before] as Value, item, schema, path)) return true;
  }
  return false;
}

/** An item without its key has the default. An empty one names no item of the object, so that the item is added to the list. */
function warnAboutKeys(item: Value, { keys, items }: ListSchema, path: Path, { warnings }: Findings): void {
  if (!isObjectValue(item) || items.kind !== 'map') return;
  for (const key of keys) {
    if (memberOf(item, key) !== undefined) continue;
    const preset = member(items.defaults, key);
    if ((preset === '' || preset === 0) && warnings.length < mostWarnings) {
      warnings.push(
        `${formatFieldPath(path)}: the item has no ${key}, which identifies it, so it does not change an item of the object; set ${key}`,
      );
    }
  }
}

/** `[name="main"]`, or the item of a set. */
function formatKey(item: Value, { keys, merge }: ListSchema): string {
  if (merge === 'set' || !isObjectValue(item)) return stringifyJson(toJson(item));
  return `[${keys.map((key) => `${key}=${stringifyJson(toJson(memberOf(item, key) ?? null))}`).join(',')}]`;
}

/** The same string for items that stand for each other: equal keys of a keyed list, equal items of a set. */
export function itemIdentity(item: Value, schema: ListSchema, path: Path): string {
  if (schema.merge === 'set') return identityOf(item);
  const { keys } = schema;
  let identity = identityOf(keyOf(item, keys[0] as string, schema, path));
  for (let index = 1; index < keys.length; index++) {
    identity += `\n${identityOf(keyOf(item, keys[index] as string, schema, path))}`;
  }
  return identity;
}

/** Whether both items have the same identity. */
export function areSameItem(a: Value, b: Value, schema: ListSchema, path: Path): boolean {
  if (schema.merge === 'set') return isSameKey(a, b);
  for (const key of schema.keys) {
    if (!isSameKey(keyOf(a, key, schema, path), keyOf(b, key, schema, path))) return false;
  }
  return true;
}

function isSameKey(a: Value, b: Value): boolean {
  return a === b || ((typeof a !== 'string' || typeof b !== 'string') && identityOf(a) === identityOf(b));
}

/** Strings are common, and need no quotes to differ from other values. */
function identityOf(value: Value): string {
  return typeof value === 'string' ? `s${value}` : stringifyJson(toJson(value));
}

/** A key that an item omits has the default of the schema. */
function keyOf(item: Value, key: string, { items }: ListSchema, path: Path): Value {
  if (!isObjectValue(item)) throw structuredError(path, 'an item of a list with keys must be a map');
  const value = memberOf(item, key) ?? (items.kind === 'map' ? member(items.defaults, key) : undefined);
  if (value === undefined || value === null) throw structuredError(path, `the item omits its key ${key}`);
  return value;
}

/** Structs and maps with string keys. */
export function isObjectValue(value: Value): value is StructValue | ValueObject {
  return value instanceof StructValue || isPlainObject(value);
}

function memberOf(value: StructValue | ValueObject, key: string): Value | undefined {
  if (value instanceof StructValue) return value.field(key);
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function describe(value: Value): string {
  if (isObjectValue(value)) return 'map';
  return isList(value) ? 'list' : typeOf(toJson(value));
}
