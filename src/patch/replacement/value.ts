import type { Json } from '../../json/value.ts';
import { NonFiniteNumberError, resolveYamlScalar } from '../../yaml/scalar.ts';
import { FieldPathError } from '../field-path/field-path.ts';
import type { WritePlace } from '../field-path/write.ts';

/** `policy` keeps types; `kustomize` copies text and lets the place decide, as the real program does. */
export type ReplacementMode = 'policy' | 'kustomize';

export interface PartOptions {
  /** Empty for none. */
  readonly delimiter: string;
  readonly index: number;
}

/** What a source yields: all of its value, or one part of its text. */
export function sourcePart(value: Json, { delimiter, index }: PartOptions): Json {
  if (delimiter === '') return value;
  const text = scalarText(value);
  const part = index < 0 ? undefined : text.split(delimiter)[index];
  if (part === undefined)
    throw new FieldPathError(`options.index ${index} is out of bounds for value ${text}`);
  return part;
}

/** What is to stand at a target, given what stands there. */
export function targetValue(
  current: Json | undefined,
  value: Json,
  options: PartOptions,
  mode: ReplacementMode,
  place: WritePlace,
): Json {
  // kustomize pays no heed to the delimiter inside a structured string.
  const parted = options.delimiter !== '' && !(mode === 'kustomize' && place.structured);
  const wanted = parted ? withPart(current, value, options) : value;
  if (current === undefined || current === null) {
    return mode === 'policy' || isContainer(wanted) || holdsText(place)
      ? wanted
      : untyped(scalarText(wanted));
  }
  if (isContainer(current)) return wanted;
  if (!isContainer(wanted)) return asTypeOf(current, wanted);
  return mode === 'policy' ? wanted : asTypeOf(current, '');
}

function withPart(current: Json | undefined, value: Json, { delimiter, index }: PartOptions): string {
  const parts = (current === undefined || current === null ? '' : scalarText(current)).split(delimiter);
  const text = scalarText(value);
  if (index < 0) parts.unshift(text);
  else if (index >= parts.length) parts.push(text);
  else parts[index] = text;
  return parts.join(delimiter);
}

/** A scalar takes the type of the one it replaces: a number becomes text in a text field. */
function asTypeOf(current: Json, value: Json): Json {
  if (typeof current === typeof value) return value;
  const text = scalarText(value);
  if (typeof current === 'string') return text;
  const resolved = untyped(text);
  if (typeof resolved === typeof current) return resolved;
  throw new FieldPathError(`cannot write '${text}' where there is a ${typeof current}`);
}

function untyped(text: string): Json {
  try {
    return resolveYamlScalar(text);
  } catch (error) {
    if (error instanceof NonFiniteNumberError) return text;
    throw error;
  }
}

/** Labels and annotations are text whatever they look like. */
function holdsText({ steps }: WritePlace): boolean {
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
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isContainer(value: Json): boolean {
  return typeof value === 'object' && value !== null;
}
