import { assertTypeName, assertTypeNames } from '../../cel/library/object.ts';
import { toJson } from '../../cel/value/json.ts';
import { isList, isPlainObject } from '../../cel/value/kinds.ts';
import {
  SpecialValue,
  type StructShape,
  StructValue,
  type Value,
  type ValueObject,
} from '../../cel/value/value.ts';
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
    if (schema.kind !== 'map' && schema.kind !== 'any') checkTypeName(value, place);
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
function checkTypeName(value: StructValue, { owner, field }: Place): void {
  if (owner !== '') assertTypeName(value, owner, field);
}

/** The schemas of the fields of a struct; undefined for those that are not declared. */
interface KnownFields {
  readonly schema: MapSchema | AnySchema;
  readonly owner: string;
  readonly field: string;
  readonly schemas: readonly (StructuredSchema | undefined)[];
}

/**
 * The schemas of the fields, in the order of their names; undefined for those that are not declared. Throws CelError if the type
 * of the struct does not follow the names of the fields. Values of one literal are mostly found at the same place again, and
 * finding that out is faster than comparing and looking up names.
 */
export function fieldSchemas(
  value: StructValue,
  schema: MapSchema | AnySchema,
  place: Place,
): readonly (StructuredSchema | undefined)[] {
  const { shape } = value;
  const { owner, field } = place;
  const known = shape.memo as KnownFields | undefined;
  if (known !== undefined && known.schema === schema && known.owner === owner && known.field === field)
    return known.schemas;
  checkTypeName(value, place);
  const schemas = shape.names.map((name) => (schema.kind === 'any' ? schema : schema.field(name)));
  shape.memo = { schema, owner, field, schemas } satisfies KnownFields;
  return schemas;
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
  const { shape, values } = value;
  const { owner, field } = place;
  const schemas = fieldSchemas(value, schema, place);
  for (let index = 0; index < values.length; index++) {
    const item = values[index];
    if (item === undefined) continue;
    check(item, enterStructField(shape, index, schemas, schema, place), place);
    place.path.pop();
  }
  place.owner = owner;
  place.field = field;
}

/** Adds the field to the place. Returns its schema; throws PatchError for an unknown field. */
export function enterStructField(
  { typeName, names }: StructShape,
  index: number,
  schemas: readonly (StructuredSchema | undefined)[],
  schema: MapSchema | AnySchema,
  place: Place,
): StructuredSchema {
  const name = names[index] as string;
  place.owner = typeName;
  place.field = name;
  place.path.push(name);
  const found = schemas[index];
  if (found === undefined) throw unknownField(schema as MapSchema, place.path);
  return found;
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
  const seen = new Set<string>();
  for (let index = 0; index < value.length; index++) {
    const item = value[index] as Value;
    path.push(index);
    check(item, schema.items, place);
    warnAboutKeys(item, schema, place);
    // An atomic list may have equal items, and a single item of another list needs no identity.
    if (schema.merge !== 'atomic' && value.length > 1) {
      const identity = itemIdentity(item, schema, path);
      if (seen.has(identity)) throw duplicateItem(item, schema, path);
      seen.add(identity);
    }
    path.pop();
  }
}

/** The path ends with the index of the item. */
export function duplicateItem(item: Value, schema: ListSchema, path: Path): PatchError {
  return structuredError(path.slice(0, -1), `duplicate entries for key ${formatKey(item, schema)}`);
}

/**
 * Warns about an item without its key, which then has the default: an empty one names no item of the object, so that the item
 * is added to the list. The path ends with the index of the item.
 */
export function warnAboutKeys(item: Value, { keys, items }: ListSchema, { path, found }: Place): void {
  if (items.kind !== 'map') return;
  for (const key of keys) {
    const preset = member(items.defaults, key);
    if ((preset !== '' && preset !== 0) || !isObjectValue(item) || memberOf(item, key) !== undefined)
      continue;
    if (found.warnings.length >= mostWarnings) return;
    found.warnings.push(
      `${formatFieldPath(path)}: the item has no ${key}, which identifies it, so it does not change an item of the object; set ${key}`,
    );
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

/** Most keys are strings, which stand for themselves. Other values begin with NUL. */
function identityOf(value: Value): string {
  if (typeof value === 'string' && value.charCodeAt(0) !== 0) return value;
  return `\0${stringifyJson(toJson(value))}`;
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
