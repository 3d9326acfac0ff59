import { isObject, type Json, type JsonObject, member, type Path } from '../../json/value.ts';
import type { ReplacementBuild } from './text-matcher.ts';
import type { PartOptions } from './value.ts';

/** Reports unknown fields. False when the value is not a map. */
export function checkFields(
  value: Json | undefined,
  known: readonly string[],
  path: Path,
  build: ReplacementBuild,
): value is JsonObject {
  if (!isObject(value)) {
    build.reporter.error(
      path,
      'KYM_REPLACEMENT_INVALID',
      `${String(path.at(-1) ?? 'a replacement')} must be a map`,
    );
    return false;
  }
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    build.reporter.error(
      [...path, key],
      'KYM_REPLACEMENT_INVALID',
      `unknown field "${key}"`,
      `Known: ${known.join(', ')}.`,
    );
  }
  return true;
}

export function textAt(
  object: JsonObject,
  key: string,
  path: Path,
  build: ReplacementBuild,
): string | undefined {
  const value = member(object, key);
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
  build.reporter.error([...path, key], 'KYM_REPLACEMENT_INVALID', `${key} must be a string`, 'Quote it.');
  return undefined;
}

export interface FieldOptions extends PartOptions {
  readonly create: boolean;
}

export function compileOptions(value: Json | undefined, path: Path, build: ReplacementBuild): FieldOptions {
  const defaults = { delimiter: '', index: 0, create: false };
  if (value === undefined || value === null) return defaults;
  if (!checkFields(value, ['delimiter', 'index', 'create', 'encoding'], path, build)) return defaults;
  const index = member(value, 'index') ?? 0;
  const create = member(value, 'create') ?? false;
  if (typeof index !== 'number' || !Number.isInteger(index)) {
    build.reporter.error([...path, 'index'], 'KYM_REPLACEMENT_INVALID', 'index must be an integer');
  }
  if (typeof create !== 'boolean') {
    build.reporter.error([...path, 'create'], 'KYM_REPLACEMENT_INVALID', 'create must be true or false');
  }
  return {
    delimiter: textAt(value, 'delimiter', path, build) ?? '',
    index: typeof index === 'number' ? index : 0,
    create: create === true,
  };
}
