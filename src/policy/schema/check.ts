import { didYouMean } from '../../expression/did-you-mean.ts';
import { stringifyJson } from '../../json/json-text.ts';
import {
  isArray,
  isNumber,
  isObject,
  type Json,
  type JsonObject,
  type Path,
  typeOf,
} from '../../json/value.ts';
import { type Reporter, replaceHint } from '../../problem.ts';
import { notAString } from '../../yaml/advice.ts';
import type { FieldSchema, FieldType, ObjectSchema } from './schema.ts';

/**
 * Reports unknown fields, wrong types, missing and out-of-range values.
 * @returns whether all values have the expected type, so that the document can be compiled.
 */
export function checkObject(
  value: JsonObject,
  schema: ObjectSchema,
  path: Path,
  reporter: Reporter,
  version: string,
): boolean {
  let wellTyped = true;
  for (const [key, memberValue] of Object.entries(value)) {
    const field = Object.hasOwn(schema, key) ? schema[key] : undefined;
    if (field === undefined || !existsIn(field, version)) {
      reportUnknown(key, field, schema, [...path, key], reporter, version);
    } else if (!checkField(memberValue, field, [...path, key], reporter, version)) {
      wellTyped = false;
    }
  }
  for (const [key, field] of Object.entries(schema)) {
    const present = Object.hasOwn(value, key) && value[key] !== null;
    if (field.required !== true || present || !existsIn(field, version)) continue;
    reporter.error(path, 'KYM_FIELD_MISSING', `the field ${key} is missing`, field.description);
    wellTyped = false;
  }
  return wellTyped;
}

function existsIn(field: FieldSchema, version: string): boolean {
  return field.versions === undefined || field.versions.includes(version);
}

function reportUnknown(
  key: string,
  field: FieldSchema | undefined,
  schema: ObjectSchema,
  path: Path,
  reporter: Reporter,
  version: string,
): void {
  if (field !== undefined) {
    const hint = field.deprecated === undefined ? undefined : `Use ${field.deprecated}.`;
    reporter.error(path, 'KYM_FIELD_UNKNOWN', `${version} has no field ${key} here`, hint);
    return;
  }
  const known = Object.keys(schema).filter((name) => existsIn(schema[name] as FieldSchema, version));
  const similar = didYouMean(key, known);
  const hint = similar === undefined ? `Known fields: ${known.join(', ')}.` : replaceHint(key, similar);
  reporter.error(path, 'KYM_FIELD_UNKNOWN', `unknown field ${JSON.stringify(key)}`, hint);
}

/** As in Kubernetes, null is the same as absent. */
function checkField(
  value: Json,
  field: FieldSchema,
  path: Path,
  reporter: Reporter,
  version: string,
): boolean {
  if (value === null || field.type === 'free') return true;
  if (!checkType(value, field, field.type, path, reporter, version)) return false;
  return checkRange(value, field, path, reporter);
}

function checkType(
  value: Json,
  field: FieldSchema,
  type: FieldType,
  path: Path,
  reporter: Reporter,
  version: string,
): boolean {
  if (typeof type === 'object') {
    if ('lazy' in type) return checkType(value, field, type.lazy(), path, reporter, version);
    if ('object' in type) {
      if (!isObject(value)) return reportType(value, 'an object', path, reporter);
      return checkObject(value, type.object, path, reporter, version);
    }
    if (!isArray(value)) return reportType(value, 'a list', path, reporter);
    const item = { ...field, type: type.list };
    return value
      .map((element, index) =>
        element === null
          ? reportType(element, typeName(type.list), [...path, index], reporter)
          : checkField(element, item, [...path, index], reporter, version),
      )
      .every(Boolean);
  }
  if (isOfType(value, type, path, reporter)) return true;
  return type === 'texts' && isObject(value) ? false : reportType(value, typeName(type), path, reporter);
}

function isOfType(value: Json, type: FieldType & string, path: Path, reporter: Reporter): boolean {
  if (type === 'free') return true;
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return isObject(value);
  if (type !== 'texts') return typeof value === type;
  if (!isObject(value)) return false;
  return Object.entries(value)
    .map(([key, text]) => typeof text === 'string' || reportType(text, 'a string', [...path, key], reporter))
    .every(Boolean);
}

function checkRange(value: Json, field: FieldSchema, path: Path, reporter: Reporter): boolean {
  if (field.enum !== undefined && typeof value === 'string' && !field.enum.includes(value)) {
    const similar = didYouMean(value, field.enum);
    reporter.error(
      path,
      'KYM_FIELD_VALUE',
      `${stringifyJson(value)} is not one of ${field.enum.join(', ')}`,
      similar === undefined ? undefined : replaceHint(value, similar),
    );
    return false;
  }
  if (typeof value === 'number' && (value < (field.minimum ?? value) || value > (field.maximum ?? value))) {
    reporter.error(path, 'KYM_FIELD_VALUE', `${value} is not between ${field.minimum} and ${field.maximum}`);
    return false;
  }
  if (typeof value === 'string' && value.length > (field.maxLength ?? value.length)) {
    reporter.error(path, 'KYM_FIELD_VALUE', `more than ${field.maxLength} characters: ${value}`);
    return false;
  }
  return true;
}

function reportType(value: Json, expected: string, path: Path, reporter: Reporter): false {
  const isScalar = isNumber(value) || typeof value === 'boolean';
  const written = isScalar && expected === 'a string' ? reporter.writtenAt?.(path) : undefined;
  if (isScalar && written !== undefined) {
    reporter.error(path, 'KYM_FIELD_TYPE', notAString(written, value));
    return false;
  }
  reporter.error(
    path,
    'KYM_FIELD_TYPE',
    `expected ${expected}, found ${describe(value)}`,
    typeHint(value, expected),
  );
  return false;
}

function typeHint(value: Json, expected: string): string | undefined {
  if (expected === 'a string') {
    if (isNumber(value) || typeof value === 'boolean') return `Put quotes around it: "${value}".`;
    return isArray(value) ? 'Write it as text: put |- after the key.' : undefined;
  }
  return expected === 'a list' && typeof value === 'string' ? `Write a list: [${value}].` : undefined;
}

function describe(value: Json): string {
  const names = { null: 'null', boolean: 'the boolean', number: 'the number', string: 'the string' } as const;
  const type = typeOf(value);
  if (type === 'array') return 'a list';
  if (type === 'object') return 'an object';
  return type === 'null' ? 'null' : `${names[type]} ${stringifyJson(value)}`;
}

function typeName(type: FieldType): string {
  if (typeof type === 'object') {
    if ('lazy' in type) return typeName(type.lazy());
    return 'list' in type ? 'a list' : 'an object';
  }
  const names = {
    string: 'a string',
    boolean: 'a boolean',
    integer: 'an integer',
    free: 'a value',
    object: 'an object',
    texts: 'a map of strings',
  } as const;
  return names[type];
}
