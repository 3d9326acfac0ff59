import { rangeEnds } from '../../expression/conditions/pattern-text.ts';
import { hasVariable } from '../../expression/template/tokens.ts';
import { EditError, setAt } from '../../json/edit.ts';
import { isObject, type Json, type JsonObject, type Path, valueAt } from '../../json/value.ts';

/** A string that matches a pattern with wildcards and simple operators. */
export function exampleText(pattern: string): string {
  const [alternative = ''] = pattern.split('|');
  const term = (alternative.split('&')[0] ?? '').trim();
  if (hasVariable(pattern)) return 'example';
  const range = rangeEnds(term);
  if (range !== undefined) return range[0];
  if (term.startsWith('!')) return `not-${plain(term.slice(1))}`;
  const bound = /^(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)(.*)$/s.exec(term);
  if (bound === null) return plain(term === '' ? pattern : term);
  const step = bound[1] === '>' ? 1 : bound[1] === '<' ? -1 : 0;
  return `${Number(bound[2]) + step}${bound[3]}`;
}

function plain(pattern: string): string {
  return pattern.replaceAll('?', 'x').replaceAll(/\*+/g, 'x');
}

/** An example value for which an anchor or condition is true. */
export function exampleValue(pattern: Json): Json {
  if (typeof pattern === 'string') {
    const text = exampleText(pattern);
    return /^[<>]/.test(pattern) && /^-?\d+$/.test(text) ? Number(text) : text;
  }
  return pattern;
}

/** Sets a value and creates missing maps and lists. A path that does not fit the object is ignored. */
export function placeAt(object: JsonObject, path: Path, value: Json): JsonObject {
  try {
    const placed = setAt(object, path, value);
    return isObject(placed) ? placed : object;
  } catch (error) {
    if (error instanceof EditError) return object;
    throw error;
  }
}

export function holdsAt(object: JsonObject, path: Path): boolean {
  return valueAt(object, path) !== undefined;
}

const field = /^\.(?:([A-Za-z_]\w*)|"((?:[^"\\]|\\.)*)")/;

/** The plain fields after `request.object`; undefined when there are none. */
function fieldsAfter(text: string): readonly string[] | undefined {
  const fields: string[] = [];
  let rest = text;
  for (let match = field.exec(rest); match !== null; match = field.exec(rest)) {
    fields.push(match[1] ?? (match[2] ?? '').replaceAll(/\\(.)/g, '$1'));
    rest = rest.slice(match[0].length);
  }
  // A bracket follows a list, and a parenthesis a function name.
  return fields.length === 0 || /^[[(.]/.test(rest) ? undefined : fields;
}

/** The field that `{{ request.object.a.b }}`, with or without a default, reads. */
export function objectPath(key: string): readonly string[] | undefined {
  const inner = /^\{\{\s*request\.object(\..*?)\s*(?:\|\|.*)?\}\}$/s.exec(key.trim())?.[1];
  return inner === undefined ? undefined : fieldsAfter(inner);
}

/** The plain fields of the object that the strings of a rule read. */
export function readPaths(document: JsonObject): readonly (readonly string[])[] {
  const found = new Map<string, readonly string[]>();
  for (const text of stringsIn(document)) {
    for (const { index, 0: match } of text.matchAll(/request\.object(?=\.)/g)) {
      const fields = fieldsAfter(text.slice(index + match.length, index + 500));
      if (fields !== undefined) found.set(fields.join('\n'), fields);
    }
  }
  return [...found.values()];
}

function* stringsIn(value: Json): Generator<string> {
  if (typeof value === 'string') yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    yield key;
    yield* stringsIn(inner);
  }
}
