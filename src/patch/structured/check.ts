import { spendSteps } from '../../json/budget.ts';
import { stringifyJson } from '../../json/json-text.ts';
import {
  isArray,
  isNumber,
  isObject,
  type Json,
  type JsonObject,
  member,
  type Path,
  type PathToken,
  typeOf,
} from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';
import type { ListSchema, MapSchema, ScalarSchema, StructuredSchema } from './schema.ts';

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
 * Checks a configuration against the schema of its kind. Throws PatchError for an unknown field, a value of another
 * type, null, and keys or set items that occur twice.
 */
export function checkConfiguration(configuration: Json, schema: StructuredSchema, found: Findings): void {
  check(configuration, schema, [], found, true);
}

/** One path is shared by all steps: paths are needed only in messages. The API server looks for atomics only in declared fields. */
function check(
  value: Json,
  schema: StructuredSchema,
  path: PathToken[],
  found: Findings,
  declared: boolean,
): void {
  spendSteps(1);
  if (value === null) throw structuredError(path, 'null is not a value; leave the field out');
  switch (schema.kind) {
    case 'scalar':
      checkScalar(value, schema, path);
      return;
    case 'list':
      checkList(value, schema, path, found, declared);
      return;
    case 'map':
      checkMap(value, schema, path, found, declared);
      return;
    case 'any':
      if (declared && schema.atomic && typeof value === 'object') found.atomics?.push(formatFieldPath(path));
      if (!isObject(value)) return;
      for (const key in value) {
        path.push(key);
        check(value[key] as Json, schema, path, found, false);
        path.pop();
      }
  }
}

function checkMap(
  value: Json,
  schema: MapSchema,
  path: PathToken[],
  found: Findings,
  declared: boolean,
): void {
  if (!isObject(value)) throw structuredError(path, `expected map, got ${describe(value)}`);
  if (declared && schema.atomic) found.atomics?.push(formatFieldPath(path));
  for (const key in value) {
    path.push(key);
    const field = schema.field(key);
    if (field === undefined) throw unknownField(schema, path);
    check(value[key] as Json, field, path, found, declared && schema.declares(key));
    path.pop();
  }
}

function unknownField(schema: MapSchema, path: Path): PatchError {
  const names = schema.fieldNames.slice(0, 30).join(', ');
  return structuredError(
    path,
    `field not declared in schema${names === '' ? '' : `; declared are ${names}`}`,
  );
}

function checkScalar(value: Json, { scalar }: ScalarSchema, path: Path): void {
  const fits =
    scalar === 'untyped'
      ? typeof value !== 'object'
      : scalar === 'number'
        ? isNumber(value)
        : typeof value === scalar;
  if (fits) return;
  const expected =
    scalar === 'number' ? 'numeric (int or float)' : scalar === 'untyped' ? 'a scalar' : scalar;
  throw structuredError(path, `expected ${expected}, got ${describe(value)}`);
}

function checkList(
  value: Json,
  schema: ListSchema,
  path: PathToken[],
  found: Findings,
  declared: boolean,
): void {
  if (!isArray(value)) throw structuredError(path, `expected list, got ${describe(value)}`);
  if (declared && schema.merge === 'atomic') found.atomics?.push(formatFieldPath(path));
  const seen = schema.merge === 'atomic' || value.length < 2 ? undefined : new Set<string>();
  for (let index = 0; index < value.length; index++) {
    const item = value[index] as Json;
    path.push(index);
    check(item, schema.items, path, found, declared);
    warnAboutKeys(item, schema, path, found);
    if (seen !== undefined) {
      const identity = itemIdentity(item, schema, path);
      if (seen.has(identity)) {
        path.pop();
        throw structuredError(path, `duplicate entries for key ${formatKey(item, schema)}`);
      }
      seen.add(identity);
    }
    path.pop();
  }
}

/** An item without its key has the default. An empty one names no item of the object, so that the item is added to the list. */
function warnAboutKeys(item: Json, { keys, items }: ListSchema, path: Path, { warnings }: Findings): void {
  if (!isObject(item) || items.kind !== 'map') return;
  for (const key of keys) {
    if (member(item, key) !== undefined) continue;
    const preset = member(items.defaults, key);
    if ((preset === '' || preset === 0) && warnings.length < mostWarnings) {
      warnings.push(
        `${formatFieldPath(path)}: the item has no ${key}, which identifies it, so it does not change an item of the object; set ${key}`,
      );
    }
  }
}

/** `[name="main"]`, or the item of a set. */
function formatKey(item: Json, { keys, merge }: ListSchema): string {
  if (merge === 'set' || !isObject(item)) return stringifyJson(item);
  return `[${keys.map((key) => `${key}=${stringifyJson(member(item, key) ?? null)}`).join(',')}]`;
}

/** The same string for items that stand for each other: equal keys of a keyed list, equal items of a set. */
export function itemIdentity(item: Json, schema: ListSchema, path: Path): string {
  if (schema.merge === 'set') return identityOf(item);
  if (!isObject(item)) throw structuredError(path, 'an item of a list with keys must be a map');
  const { keys } = schema;
  let identity = identityOf(keyOf(item, keys[0] as string, schema, path));
  for (let index = 1; index < keys.length; index++) {
    identity += `\n${identityOf(keyOf(item, keys[index] as string, schema, path))}`;
  }
  return identity;
}

/** Strings are common, and need no quotes to differ from other values. */
function identityOf(value: Json): string {
  return typeof value === 'string' ? `s${value}` : stringifyJson(value);
}

/** A key that an item omits has the default of the schema. */
function keyOf(item: JsonObject, key: string, { items }: ListSchema, path: Path): Json {
  const value = member(item, key) ?? (items.kind === 'map' ? member(items.defaults, key) : undefined);
  if (value === undefined || value === null) throw structuredError(path, `the item omits its key ${key}`);
  return value;
}

function describe(value: Json): string {
  const type = typeOf(value);
  return type === 'object' ? 'map' : type === 'array' ? 'list' : type;
}
