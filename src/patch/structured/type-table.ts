import type { Json, JsonObject } from '../../json/value.ts';
import { structuredTypes } from '../generated/structured-types.ts';

/** A type in the table: a scalar letter (`s`, `n`, `b`, or `u` for any), the number of its line in two digits to base 36, a list or a map. */
export type TypeReference = string | ListEntry | MapEntry;

export interface ListEntry {
  readonly list: 'atomic' | 'set' | 'map';
  readonly of: TypeReference;
  readonly keys: readonly string[];
}

export interface MapEntry {
  readonly fields: Readonly<Record<string, TypeReference>>;
  readonly values?: TypeReference | undefined;
  readonly atomic: boolean;
  readonly defaults: JsonObject;
}

/** The type of arbitrary JSON. The table writes it as an atomic list of itself. */
export const untypedReference = '00';

let lines: readonly string[] | undefined;
let named: ReadonlyMap<string, string> | undefined;

/** The type of a kind, such as `core.v1.Pod`. Other types have no name. */
export function kindReference(name: string): string | undefined {
  named ??= readNames();
  return named.get(name);
}

/**
 * The type on a line of the table. A line has the groups of the fields of a map, and starts with the name if the type has one, and
 * with `!` if the map is atomic: ` s:key="",valueExpression=""`. A group is a type and its fields, each with its default. A line without
 * groups is another type.
 */
export function typeAt(reference: string): TypeReference | undefined {
  const line = tableLines()[Number.parseInt(reference, 36)];
  return line === undefined ? undefined : readType(line);
}

function tableLines(): readonly string[] {
  lines ??= structuredTypes.split('\n');
  return lines;
}

/** A prefix and `:` before a name belong to the following names, too. */
function readNames(): Map<string, string> {
  const names = new Map<string, string>();
  let prefix = '';
  for (const [index, line] of tableLines().entries()) {
    const [, group, name] = /^(?:([^ :]+):)?(\w+)/.exec(line) ?? [];
    prefix = group ?? prefix;
    if (name !== undefined) names.set(prefix + name, index.toString(36).padStart(2, '0'));
  }
  return names;
}

function readType(line: string): TypeReference {
  const [head = '', ...groups] = line.split(' ');
  const [only = ''] = groups;
  if (groups.length === 1 && !only.includes(':')) return readReference(only);
  const fields: [string, TypeReference][] = [];
  const defaults: [string, Json][] = [];
  for (const group of groups) {
    const colon = group.indexOf(':');
    const reference = readReference(group.slice(0, colon));
    for (const text of group.slice(colon + 1).split(',')) {
      const [field = '', value] = text.split('=');
      fields.push([field, reference]);
      if (value !== undefined) defaults.push([field, JSON.parse(value) as Json]);
    }
  }
  return { fields: sorted(fields), atomic: head.endsWith('!'), defaults: sorted(defaults) };
}

function sorted<T>(entries: [string, T][]): Record<string, T> {
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}

/**
 * `s`: a scalar. `0f`: the type on that line. `[s`: an atomic list; `[=s`: a set; `[name,port]0f`: a list with keys.
 * `{s`: a map; `{!s`: an atomic one.
 */
function readReference(text: string): TypeReference {
  if (text.startsWith('{')) {
    const atomic = text.startsWith('{!');
    return { fields: {}, values: readReference(text.slice(atomic ? 2 : 1)), atomic, defaults: {} };
  }
  if (!text.startsWith('[')) return text;
  const end = text.indexOf(']');
  if (end > 0)
    return {
      list: 'map',
      of: readReference(text.slice(end + 1)),
      keys: text.slice(1, end).split(','),
    };
  const isSet = text.startsWith('[=');
  return {
    list: isSet ? 'set' : 'atomic',
    of: readReference(text.slice(isSet ? 2 : 1)),
    keys: [],
  };
}
