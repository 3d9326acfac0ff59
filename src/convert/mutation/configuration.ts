import { isArray, isNumber, isObject, type Json, type JsonObject } from '../../json/value.ts';
import { asDeclared } from '../../patch/structured/declared.ts';
import type { MapSchema, ScalarSchema } from '../../patch/structured/schema.ts';
import { isFieldName, quote } from '../expression/cel-text.ts';
import type { Scope } from '../types.ts';
import { readOverlayMap } from './overlay.ts';
import { fieldTarget, type Target } from './target.ts';
import { hasVariables, scalarText } from './value.ts';

/**
 * The overlay as an `Object{…}`. Undefined where server-side apply merges differently: lists put new items at the end, nothing is
 * deleted, atomic maps are refused, and the schema has to declare every field.
 */
export function configurationText(overlay: JsonObject, target: Target, scope: Scope): string | undefined {
  return target.isApplied ? structText(overlay, 'Object', target, scope) : undefined;
}

function structText(map: JsonObject, typeName: string, target: Target, scope: Scope): string | undefined {
  const { declared } = target;
  if (declared?.kind !== 'map' || declared.atomic) return undefined;
  const { entries, conditions, directive, deletions } = readOverlayMap(map, target.path);
  if (entries.length === 0 || directive !== 'merge' || deletions.length > 0) return undefined;
  if (conditions.some(({ key }) => entries.some((entry) => entry.key === key))) return undefined;
  const isStruct = entries.every(({ key }) => declared.declares(key) && isFieldName(key));
  if (!isStruct && entries.some(({ key }) => declared.declares(key) || key.includes('{{'))) return undefined;
  const fields: string[] = [];
  for (const { key, value, isAdded, path } of entries) {
    const field = fieldTarget(target, key, path);
    const text = valueText(value, `${typeName}.${key}`, field, declared, isStruct, scope);
    if (text === undefined) return undefined;
    const name = isStruct ? key : quote(key);
    fields.push(
      isAdded
        ? `?${name}: ${field.place.present} ? optional.none() : optional.of(${text})`
        : `${name}: ${text}`,
    );
  }
  return block(isStruct ? typeName : '', fields);
}

function valueText(
  value: Json,
  typeName: string,
  field: Target,
  parent: MapSchema,
  isStruct: boolean,
  scope: Scope,
): string | undefined {
  if (isObject(value))
    return isStruct && parent.declares(typeName.split('.').at(-1) ?? '')
      ? structText(value, typeName, field, scope)
      : undefined;
  if (isArray(value) || value === null || field.declared?.kind !== 'scalar') return undefined;
  const written = scalarText(value, { scope, schema: field.declared, path: field.path, self: field.place });
  if (written.nullable !== undefined) return undefined;
  const fits = hasVariables(value)
    ? field.declared.scalar === 'string'
    : fitsScalar(asDeclared(value, field.declared), field.declared);
  if (!fits) return undefined;
  // The values of a map need one type.
  return isStruct || written.type !== 'dyn' ? written.source : `string(${written.source})`;
}

function fitsScalar(value: Json, { scalar }: ScalarSchema): boolean {
  switch (scalar) {
    case 'untyped':
      return true;
    case 'number':
      return isNumber(value);
    default:
      return typeof value === scalar;
  }
}

const longestLine = 100;

function block(typeName: string, fields: readonly string[]): string {
  const line = `${typeName}{${fields.join(', ')}}`;
  if (line.length <= longestLine && !line.includes('\n')) return line;
  const lines = fields.map((field) => `  ${field.replaceAll('\n', '\n  ')}`);
  return `${typeName}{\n${lines.join(',\n')}\n}`;
}
