import { spendList, spendSize } from '../../json/budget.ts';
import { stringifyJson } from '../../json/json-text.ts';
import type { Json } from '../../json/value.ts';
import { NonFiniteNumberError, resolveYamlScalar } from '../../yaml/scalar.ts';
import { FieldPathError } from '../field-path/field-path.ts';
import type { WriteLocation } from '../field-path/write.ts';

/** `policy` keeps types. `kustomize` copies strings, and the target field determines the type. */
export type ReplacementMode = 'policy' | 'kustomize';

export interface PartOptions {
  /** Empty for none. */
  readonly delimiter: string;
  readonly index: number;
}

/** The value of a source: all of it, or one part of a delimited string. */
export function sourcePart(value: Json, { delimiter, index }: PartOptions): Json {
  if (delimiter === '') return value;
  const text = scalarText(value);
  const part = index < 0 ? undefined : text.split(delimiter)[index];
  if (part === undefined)
    throw new FieldPathError(`options.index ${index} is out of bounds for value ${text}`);
  return part;
}

/** The new value of a target field, given its current value. */
export function targetValue(
  current: Json | undefined,
  value: Json,
  options: PartOptions,
  mode: ReplacementMode,
  location: WriteLocation,
): Json {
  spendSize(value);
  // kustomize ignores the delimiter inside a structured string.
  const parted = options.delimiter !== '' && !(mode === 'kustomize' && location.structured);
  const wanted = parted ? withPart(current, value, options) : value;
  if (current === undefined || current === null) {
    return mode === 'policy' || isContainer(wanted) || holdsText(location)
      ? wanted
      : untyped(scalarText(wanted));
  }
  if (isContainer(current)) return wanted;
  if (!isContainer(wanted)) return asTypeOf(current, wanted);
  return mode === 'policy' ? wanted : asTypeOf(current, '');
}

function withPart(current: Json | undefined, value: Json, { delimiter, index }: PartOptions): string {
  const parts = (current === undefined || current === null ? '' : scalarText(current)).split(delimiter);
  spendList(parts.length);
  const text = scalarText(value);
  if (index < 0) parts.unshift(text);
  else if (index >= parts.length) parts.push(text);
  else parts[index] = text;
  return parts.join(delimiter);
}

/** A scalar takes the type of the one it replaces: a number becomes a string in a string field. */
function asTypeOf(current: Json, value: Json): Json {
  if (typeof current === typeof value) return value;
  const text = scalarText(value);
  if (typeof current === 'string') return text;
  const resolved = untyped(text);
  if (typeof resolved === typeof current) return resolved;
  throw new FieldPathError(`cannot replace a ${typeof current} with '${text}'`);
}

function untyped(text: string): Json {
  try {
    return resolveYamlScalar(text);
  } catch (error) {
    if (error instanceof NonFiniteNumberError) return text;
    throw error;
  }
}

/** Labels and annotations are always strings. */
function holdsText({ steps }: WriteLocation): boolean {
  const [metadata, tags] = steps.slice(-3);
  return (
    metadata?.type === 'field' &&
    metadata.name === 'metadata' &&
    tags?.type === 'field' &&
    (tags.name === 'labels' || tags.name === 'annotations')
  );
}

function scalarText(value: Json): string {
  if (isContainer(value))
    throw new FieldPathError('the delimiter option can only be used with scalar values');
  return typeof value === 'string' ? value : stringifyJson(value);
}

function isContainer(value: Json): boolean {
  return typeof value === 'object' && value !== null;
}
