import { didYouMean } from '../../expression/did-you-mean.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../json/value.ts';
import { KustomizeError } from '../kustomize-error.ts';

/**
 * The type of a kustomization field. Like Go's JSON decoder, keys are case-insensitive and null counts as absent. Unknown
 * keys are errors.
 */
export type Shape =
  | 'text'
  | 'integer'
  | 'boolean'
  | 'any'
  /** A string, or a map of strings. */
  | 'selector'
  | {
      readonly list: Shape /** A single entry may stand without a list around it. */;
      readonly orOne?: true | undefined;
    }
  /** One map or a list of maps. */
  | { readonly oneOf: Shape }
  | { readonly map: Shape }
  | {
      readonly fields: Readonly<Record<string, Shape>>;
      /** Alternative field names. */
      readonly aliases?: Readonly<Record<string, string>> | undefined;
    };

export interface DecodeOptions {
  readonly file?: string | undefined;
  /** Ignore unknown keys. */
  readonly lenient?: boolean | undefined;
}

/** Checks a value against a shape and normalizes its keys; undefined for null. */
export function decode(
  value: Json,
  shape: Shape,
  field: string,
  options: DecodeOptions = {},
): Json | undefined {
  if (value === null) return undefined;
  if (typeof shape === 'string') return decodeScalar(value, shape, field, options);
  if ('list' in shape) {
    if (!isArray(value)) throw invalid(field, 'a list', value, options);
    return decodeItems(value, shape.list, field, options);
  }
  if ('oneOf' in shape) {
    const inner = shape.oneOf;
    if (!isArray(value)) return decode(value, inner, field, options);
    return decodeItems(value, inner, field, options);
  }
  if (!isObject(value)) throw invalid(field, 'a map', value, options);
  return 'map' in shape
    ? decodeMap(value, shape.map, field, options)
    : decodeFields(value, shape, field, options);
}

function decodeItems(value: readonly Json[], shape: Shape, field: string, options: DecodeOptions): Json {
  return value.map((item, index) => decode(item, shape, `${field}[${index}]`, options) ?? zeroOf(shape));
}

/** Go decodes a null item of a list or a map as the zero value of its type. */
function zeroOf(shape: Shape): Json {
  switch (shape) {
    case 'text':
    case 'selector':
      return '';
    case 'integer':
      return 0;
    case 'boolean':
      return false;
    case 'any':
      return null;
    default:
      if ('oneOf' in shape) return zeroOf(shape.oneOf);
      return 'list' in shape ? [] : {};
  }
}

function decodeMap(value: JsonObject, shape: Shape, field: string, options: DecodeOptions): JsonObject {
  const entries = Object.entries(value).map(([key, item]): [string, Json] => {
    const decoded = decode(item, shape, join(field, key), options);
    return [key, decoded ?? zeroOf(shape)];
  });
  return Object.fromEntries(entries);
}

function decodeFields(
  value: JsonObject,
  shape: Extract<Shape, { fields: unknown }>,
  field: string,
  options: DecodeOptions,
): JsonObject {
  const result: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    const name = fieldNamed(key, shape);
    if (name === undefined) {
      if (options.lenient === true) continue;
      const known = Object.keys(shape.fields);
      const similar = didYouMean(key, known);
      throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', `unknown field "${key}"`, {
        ...fileOf(options),
        field: join(field, key),
        hint: similar === undefined ? `Known: ${known.join(', ')}.` : `Did you mean ${similar}?`,
      });
    }
    if (Object.hasOwn(result, name)) {
      const other = Object.keys(value).find((before) => before !== key && fieldNamed(before, shape) === name);
      const message = `${other} and ${key} are the same field: write one of them`;
      throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', message, {
        ...fileOf(options),
        field: join(field, key),
      });
    }
    const decoded = decode(item, shape.fields[name] as Shape, join(field, name), options);
    if (decoded !== undefined) result[name] = decoded;
  }
  return result;
}

function fieldNamed(key: string, shape: Extract<Shape, { fields: unknown }>): string | undefined {
  if (Object.hasOwn(shape.fields, key)) return key;
  const lower = key.toLowerCase();
  const direct = Object.keys(shape.fields).find((name) => name.toLowerCase() === lower);
  if (direct !== undefined) return direct;
  return Object.entries(shape.aliases ?? {}).find(([alias]) => alias.toLowerCase() === lower)?.[1];
}

function decodeScalar(
  value: Json,
  shape: Extract<Shape, string>,
  field: string,
  options: DecodeOptions,
): Json {
  switch (shape) {
    case 'text':
      if (typeof value !== 'string') throw invalid(field, 'a string', value, options);
      return value;
    case 'integer':
      if (typeof value !== 'number' || !Number.isInteger(value))
        throw invalid(field, 'an integer', value, options);
      return value;
    case 'boolean':
      if (typeof value !== 'boolean') throw invalid(field, 'true or false', value, options);
      return value;
    case 'selector':
      return decodeSelector(value, field, options);
    case 'any':
      return value;
  }
}

function decodeSelector(value: Json, field: string, options: DecodeOptions): Json {
  if (typeof value === 'string') return value;
  if (!isObject(value)) throw invalid(field, 'a string or a map of strings', value, options);
  return decodeMap(value, 'text', field, options);
}

function invalid(field: string, wanted: string, value: Json, options: DecodeOptions): KustomizeError {
  const found = isArray(value) ? 'a list' : isObject(value) ? 'a map' : stringifyJson(value);
  return new KustomizeError('KYM_KUSTOMIZATION_INVALID', `expected ${wanted}, found ${found}`, {
    ...fileOf(options),
    field,
    ...(wanted === 'a list' && { hint: 'Begin each entry with "- ".' }),
    ...(wanted === 'a string' && !isArray(value) && !isObject(value) && { hint: 'Quote the value.' }),
  });
}

function fileOf(options: DecodeOptions): { file?: string | undefined } {
  return options.file === undefined ? {} : { file: options.file };
}

function join(field: string, key: string): string {
  return field === '' ? key : `${field}.${key}`;
}
