import { typeMismatch, typeNameMismatches } from '../../cel/library/object.ts';
import { CelError } from '../../cel/value/error.ts';
import { toJson } from '../../cel/value/json.ts';
import { isList, isMap, typeNameOf } from '../../cel/value/kinds.ts';
import { mapEntries } from '../../cel/value/map.ts';
import { StructShape, StructValue, type Value } from '../../cel/value/value.ts';
import { spendSteps } from '../../json/budget.ts';
import { textOf } from '../../json/metadata.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import { PatchError } from '../compiled-patch.ts';
import { structuredError } from './check.ts';
import { mergeStructured } from './merge.ts';
import type { SchemaLookup, StructuredSchema } from './schema.ts';

export interface ApplyConfigurationOptions {
  readonly schemaOf: SchemaLookup;
  /** Allows atomic lists, maps and structs, which are replaced. */
  readonly serverSideApply: boolean;
  /** Accepts map literals as items of lists. */
  readonly mapsInLists: boolean;
  /** Accepts fields of the object that the schema does not declare. */
  readonly undeclaredFields: boolean;
  /** Receives what the author hardly meant. */
  readonly warnings?: string[] | undefined;
}

/** Applies the `Object{…}` that the expression of an ApplyConfiguration gave. Throws CelError or PatchError. */
export function applyConfiguration(
  object: JsonObject,
  value: Value,
  { schemaOf, serverSideApply, mapsInLists, undeclaredFields, warnings }: ApplyConfigurationOptions,
): JsonObject {
  if (!(value instanceof StructValue)) {
    throw new CelError(
      `the expression of an ApplyConfiguration gave ${typeNameOf(value)} instead of an Object`,
    );
  }
  if (!mapsInLists) {
    refuseForm(value);
    refuseMapsInLists(value, [], mapsOf(object, new Set()));
  }
  try {
    const apiVersion = textOf(object['apiVersion']);
    const kind = textOf(object['kind']);
    const schema = schemaOf(apiVersion, kind);
    if (schema === undefined) {
      throw new PatchError(
        'KYM_APPLY_CONFIGURATION',
        [],
        `there is no schema for ${kind} of ${apiVersion}, so lists cannot be merged; give its CustomResourceDefinition, or use JSONPatch`,
      );
    }
    if (!undeclaredFields) refuseUndeclared(object, schema, []);
    const atomics = serverSideApply ? 'replace' : 'refuse';
    return mergeStructured(object, withoutType(value), schema, { atomics, warnings });
  } catch (error) {
    // As in the API server, a wrong form of the configuration counts before what it says.
    if (error instanceof PatchError) refuseForm(value);
    throw error;
  }
}

/** Throws CelError for type names that do not follow the names of fields, then for values without a JSON form. */
function refuseForm(value: StructValue): void {
  const [mismatch] = typeNameMismatches(value);
  if (mismatch !== undefined) throw typeMismatch(mismatch);
  toJson(value);
}

/** The type of the object counts, whatever the configuration says. */
function withoutType(value: StructValue): StructValue {
  const { shape, values } = value;
  const { typeName, names } = shape;
  if (!names.includes('apiVersion') && !names.includes('kind')) return value;
  refuseForm(value);
  const isKept = (index: number): boolean => names[index] !== 'apiVersion' && names[index] !== 'kind';
  const kept = names.filter((_name, index) => isKept(index));
  return new StructValue(
    new StructShape(typeName, kept),
    values.filter((_value, index) => isKept(index)),
  );
}

/** Maps of the object itself are no literals. */
function mapsOf(value: Json, found: Set<unknown>): ReadonlySet<unknown> {
  if (isArray(value)) for (const item of value) mapsOf(item, found);
  if (!isObject(value)) return found;
  found.add(value);
  for (const item of Object.values(value)) mapsOf(item, found);
  return found;
}

function refuseMapsInLists(value: Value, path: Path, live: ReadonlySet<unknown>): void {
  spendSteps(1);
  if (value instanceof StructValue) {
    for (const [key, item] of Object.entries(value.fields)) refuseMapsInLists(item, [...path, key], live);
  } else if (isList(value)) {
    value.forEach((item, index) => {
      if (isMap(item) && !live.has(item)) {
        throw structuredError(
          path,
          `element ${index}: associative list with keys may not have non-map elements`,
        );
      }
      refuseMapsInLists(item, [...path, index], live);
    });
  } else if (isMap(value)) {
    for (const [key, item] of mapEntries(value)) refuseMapsInLists(item, [...path, String(key)], live);
  }
}

function refuseUndeclared(value: Json, schema: StructuredSchema, path: Path): void {
  if (schema.kind === 'list' && isArray(value)) {
    value.forEach((item, index) => {
      refuseUndeclared(item, schema.items, [...path, index]);
    });
  }
  if (schema.kind !== 'map' || !isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const field = schema.field(key);
    if (field === undefined) throw structuredError([...path, key], 'field not declared in schema');
    refuseUndeclared(item, field, [...path, key]);
  }
}
