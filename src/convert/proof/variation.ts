import { exampleText } from '../../analysis/interplay/example-value.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { isArray, isNumber, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import { declaredSchema } from '../../patch/structured/declared.ts';
import type { StructuredSchema } from '../../patch/structured/schema.ts';
import type { Field } from './field-tree.ts';
import type { Random } from './random.ts';

/** Numbers, patterns and paths as text, beside ordinary values. */
const texts: readonly Json[] = ['example', '', '007', '1.10', 'e*', 'a/b'];
const numbers: readonly Json[] = [0, 1, 2];
const booleans: readonly Json[] = [true, false];
/** Values of a field whose type no schema tells. */
const anything: readonly Json[] = [
  ...texts,
  ...numbers,
  ...booleans,
  1.5,
  '1',
  'true',
  [],
  {},
  ['a'],
  { a: 'b' },
  [null],
];

/** Whether an API server could send the value at this place. It decodes an object of a known kind before policies see it. */
export function fits(value: Json, schema: StructuredSchema | undefined): boolean {
  if (schema === undefined || schema.kind === 'any') return true;
  if (schema.kind === 'list') return isArray(value) && value.every((item) => fits(item, schema.items));
  if (schema.kind === 'map') {
    return (
      isObject(value) &&
      Object.entries(value).every(([key, inner]) => {
        const field = schema.field(key);
        return field !== undefined && fits(inner, field);
      })
    );
  }
  switch (schema.scalar) {
    case 'string':
      return typeof value === 'string';
    case 'number':
      return isNumber(value) && Number.isInteger(Number(value));
    case 'boolean':
      return typeof value === 'boolean';
    case 'untyped':
      return typeof value === 'string' || isNumber(value);
  }
}

/** Values that a field may have: those of the policy, and others of its type. The API server refuses other names of known kinds. */
export function valuesFor(field: Field, schema: StructuredSchema | undefined, path: Path): readonly Json[] {
  const generic = isKnown(schema) ? genericFor(schema) : anything;
  const isName = path.at(-1) === 'name' && isKnown(schema);
  // A custom resource has no list as its spec.
  const isPart = path.length === 1 && field.members.size > 0;
  const known = [...field.values.values(), ...generic].filter(
    (value) =>
      fits(value, schema) &&
      !(isPart && isArray(value)) &&
      !(isName && typeof value === 'string' && !/^[\w.-]*$/.test(value)),
  );
  return [...new Map(known.map((value) => [stringifyJson(value), value])).values()];
}

function isKnown(schema: StructuredSchema | undefined): schema is Exclude<StructuredSchema, { kind: 'any' }> {
  return schema !== undefined && schema.kind !== 'any';
}

function genericFor(schema: Exclude<StructuredSchema, { kind: 'any' }>): readonly Json[] {
  if (schema.kind === 'list') return [[]];
  if (schema.kind === 'map') return [{}];
  switch (schema.scalar) {
    case 'string':
      return texts;
    case 'number':
      return numbers;
    case 'boolean':
      return booleans;
    case 'untyped':
      return [...numbers, '1', '100m', '1Gi', 'example'];
  }
}

/** The schema of a member or item. */
export function schemaBelow(
  schema: StructuredSchema | undefined,
  token: string | number,
): StructuredSchema | undefined {
  if (schema?.kind === 'map') return schema.field(String(token));
  return schema?.kind === 'list' ? schema.items : undefined;
}

const customSchema = declaredSchema({});

/** Whether objects of a kind with this schema can have the member. Custom resources can have any. */
export function mayHave(schema: StructuredSchema | undefined, token: string | number): boolean {
  if (!isKnown(schema) || schema === customSchema) return true;
  if (schema.kind === 'map') return typeof token === 'string' && schema.field(token) !== undefined;
  return schema.kind === 'list' && typeof token === 'number';
}

/** Lists that an API server sends as null when they are empty; it omits other empty lists of known kinds. */
const nullLists: ReadonlySet<string> = new Set(['containers', 'rules', 'paths', 'nodeSelectorTerms']);
/** Parts of known kinds that an API server always sends. */
const constantParts: ReadonlySet<string> = new Set(['metadata', 'spec', 'template', 'jobTemplate']);

/** Whether an API server could send null for a field. Custom resources may have it anywhere. */
export function mayBeNull(path: Path, schema: StructuredSchema | undefined): boolean {
  return !isKnown(schema) || (schema.kind === 'list' && nullLists.has(String(path.at(-1))));
}

/** Whether an API server could send an object without a field. */
export function mayBeAbsent(path: Path, schema: StructuredSchema | undefined): boolean {
  return !isKnown(schema) || schema.kind !== 'map' || !constantParts.has(String(path.at(-1)));
}

/** The identity of an object does not vary with its content. */
export function isIdentity(path: Path): boolean {
  return path.length === 1 && (path[0] === 'apiVersion' || path[0] === 'kind');
}

/** Changes random fields of a value. Undefined stands for an absent value. */
export function vary(
  value: Json | undefined,
  field: Field,
  schema: StructuredSchema | undefined,
  random: Random,
  path: Path = [],
): Json | undefined {
  if (isIdentity(path)) return value;
  const isInside = path.length > 0;
  if (isInside && random.chance(0.3)) return value;
  if (isInside && random.chance(0.12) && mayBeAbsent(path, schema)) return undefined;
  if (isInside && random.chance(0.03) && mayBeNull(path, schema)) return null;
  if (field.item !== undefined && (isArray(value) || mayHave(schema, 0)) && schema?.kind !== 'map')
    return varyList(isArray(value) ? value : [], field.item, schema, random, path);
  if (field.members.size > 0 && schema?.kind !== 'list' && schema?.kind !== 'scalar')
    return varyMembers(isObject(value) ? value : {}, field, schema, random, path);
  const values = valuesFor(field, schema, path);
  return values.length === 0 ? value : random.pick(values);
}

function varyMembers(
  object: JsonObject,
  field: Field,
  schema: StructuredSchema | undefined,
  random: Random,
  path: Path,
): JsonObject {
  const entries = new Map(Object.entries(object));
  for (const [text, inner] of field.members) {
    const key = /[*?]/.test(text) ? exampleText(text) : text;
    if (key.includes('{{') || !mayHave(schema, key)) continue;
    const varied = vary(entries.get(key), inner, schemaBelow(schema, key), random, [...path, key]);
    if (varied === undefined) entries.delete(key);
    else entries.set(key, varied);
  }
  return Object.fromEntries(entries);
}

function varyList(
  list: readonly Json[],
  item: Field,
  schema: StructuredSchema | undefined,
  random: Random,
  path: Path,
): Json {
  const count = [0, 1, 1, 2, 2, 3][random.below(6)] ?? 1;
  const items = Array.from({ length: count }, (_, index) => {
    const start = list[index] ?? list[0];
    return vary(start, item, schemaBelow(schema, 0), random, [...path, index]);
  }).filter((value): value is Json => value !== undefined && value !== null);
  const distinct = withDistinctKeys(items, schema);
  // An API server sends items with the same key too: it validates lists after policies.
  return random.chance(0.08) ? [...distinct, ...distinct.slice(0, 1)] : distinct;
}

/** Items of a list with keys: each has its keys, and no two have the same. */
function withDistinctKeys(items: readonly Json[], schema: StructuredSchema | undefined): readonly Json[] {
  const keys = schema?.kind === 'list' && schema.merge === 'map' ? schema.keys : ['name'];
  const isKeyed = schema?.kind === 'list' && schema.merge === 'map';
  const used = new Set<string>();
  return items.map((item, index) => {
    if (!isObject(item)) return item;
    if (!isKeyed && !keys.every((key) => Object.hasOwn(item, key))) return item;
    const present = keys.map((key) => item[key]);
    const isComplete = present.every((value) => typeof value === 'string' || isNumber(value));
    const identity = stringifyJson(present);
    if (isComplete && !used.has(identity)) {
      used.add(identity);
      return item;
    }
    const [key = 'name'] = keys;
    const taken = new Set(items.map((other) => (isObject(other) ? other[key] : undefined)));
    const changed = { [key]: distinct(item[key], index, taken), ...omit(item, key) };
    used.add(stringifyJson(keys.map((each) => changed[each])));
    return changed;
  });
}

/** The value with keys in the items of its lists. */
export function withKeys(value: Json, schema: StructuredSchema | undefined): Json {
  if (isArray(value))
    return withDistinctKeys(
      value.map((item) => withKeys(item, schemaBelow(schema, 0))),
      schema,
    );
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withKeys(inner, schemaBelow(schema, key))]),
  );
}

/** A value that no item has yet. */
function distinct(value: Json | undefined, index: number, taken: ReadonlySet<Json | undefined>): Json {
  const candidate = isNumber(value)
    ? Number(value) + 1000 + index
    : `${typeof value === 'string' && value !== '' ? value : 'item'}-${index}`;
  return taken.has(candidate) ? distinct(candidate, index, taken) : candidate;
}

function omit(object: JsonObject, key: string): Record<string, Json> {
  return Object.fromEntries(Object.entries(object).filter(([each]) => each !== key));
}
