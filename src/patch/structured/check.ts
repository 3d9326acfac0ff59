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

/**
 * Checks a configuration against the schema of its kind. Throws PatchError for an unknown field, a value of another
 * type, null, and keys or set items that occur twice.
 */
export function checkConfiguration(value: Json, schema: StructuredSchema, path: Path = []): void {
  spendSteps(1);
  if (value === null) throw structuredError(path, 'null is not a value; leave the field out');
  switch (schema.kind) {
    case 'any':
      if (isObject(value)) {
        for (const [key, item] of Object.entries(value)) checkConfiguration(item, schema, [...path, key]);
      }
      return;
    case 'scalar':
      checkScalar(value, schema, path);
      return;
    case 'list':
      checkList(value, schema, path);
      return;
    case 'map':
      if (!isObject(value)) throw structuredError(path, `expected map, got ${describe(value)}`);
      for (const [key, item] of Object.entries(value)) {
        const field = schema.field(key);
        if (field === undefined) throw unknownField(schema, [...path, key]);
        checkConfiguration(item, field, [...path, key]);
      }
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

function checkList(value: Json, schema: ListSchema, path: Path): void {
  if (!isArray(value)) throw structuredError(path, `expected list, got ${describe(value)}`);
  const seen = new Set<string>();
  value.forEach((item, index) => {
    checkConfiguration(item, schema.items, [...path, index]);
    if (schema.merge === 'atomic') return;
    const identity = itemIdentity(item, schema, [...path, index]);
    if (seen.has(identity)) throw structuredError(path, `duplicate entries for key ${identity}`);
    seen.add(identity);
  });
}

/** The paths of atomic lists, maps and structs in the configuration. */
export function findAtomics(value: Json, schema: StructuredSchema, path: Path = []): readonly string[] {
  if (schema.kind === 'list' && isArray(value)) {
    const own = schema.merge === 'atomic' ? [formatFieldPath(path)] : [];
    return [...own, ...value.flatMap((item, index) => findAtomics(item, schema.items, [...path, index]))];
  }
  if (schema.kind === 'map' && isObject(value)) {
    const own = schema.atomic ? [formatFieldPath(path)] : [];
    const inner = Object.entries(value).flatMap(([key, item]) => {
      // The API server looks only into declared fields.
      const field = schema.fieldNames.includes(key) ? schema.field(key) : undefined;
      return field === undefined ? [] : findAtomics(item, field, [...path, key]);
    });
    return [...own, ...inner];
  }
  return schema.kind === 'any' && schema.atomic && typeof value === 'object' ? [formatFieldPath(path)] : [];
}

/** The same string for items that stand for each other: equal keys of a keyed list, equal items of a set. */
export function itemIdentity(item: Json, schema: ListSchema, path: Path): string {
  if (schema.merge === 'set') return stringifyJson(item);
  if (!isObject(item)) throw structuredError(path, 'an item of a list with keys must be a map');
  const parts = schema.keys.map((key) => `${key}=${stringifyJson(keyOf(item, key, schema, path))}`);
  return `[${parts.join(',')}]`;
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
