import { parseDocument } from 'yaml';
import { spendBytes, spendSteps } from '../../json/budget.ts';
import { equal } from '../../json/equal.ts';
import { jsonInteger, stringifyJson, tryParseJson } from '../../json/json-text.ts';
import { isArray, isObject, type Json, type Path } from '../../json/value.ts';

/** `sorted` sorts the members of JSON by name, as kustomize does. `kept` keeps their order. */
export type StructuredStyle = 'sorted' | 'kept';

export interface StructuredText {
  readonly value: Json;
  /** Serializes a changed value in the style of the original string. */
  close(changed: Json): string;
}

/** Parses a string that contains a map or a list as JSON or YAML; undefined for any other string. */
export function openStructured(text: string, style: StructuredStyle): StructuredText | undefined {
  // A syntax tree, or a value: as for parse_yaml and parse_json.
  spendSteps(text.length << 4);
  spendBytes(text.length * 50);
  const start = text.trimStart()[0];
  return start === '{' || start === '[' ? openJson(text, style) : openYaml(text);
}

function openJson(text: string, style: StructuredStyle): StructuredText | undefined {
  const value = tryParseJson(text) ?? openYaml(text)?.value;
  if (value === undefined || !isContainer(value)) return undefined;
  const indent = text.includes('\n') && text.includes('  ') ? 2 : undefined;
  return {
    value,
    close: (changed) => stringifyJson(style === 'sorted' ? sortMembers(changed) : changed, indent),
  };
}

function openYaml(text: string): StructuredText | undefined {
  const document = parseDocument(text, { intAsBigInt: true });
  if (document.errors.length > 0) return undefined;
  let value: Json;
  try {
    value = canonical(document.toJS({ maxAliasCount: 100 }) as Json);
  } catch {
    return undefined;
  }
  if (!isContainer(value)) return undefined;
  return {
    value,
    close(changed) {
      const copy = document.clone();
      setChanges([], value, changed, (path, inner) =>
        copy.setIn(path, isContainer(inner) ? copy.createNode(inner) : inner),
      );
      return copy.toString({ lineWidth: 0 }).trim();
    },
  };
}

/** Sets only differing values, so that comments elsewhere are kept. */
function setChanges(path: Path, before: Json, after: Json, set: (path: Path, value: Json) => void): void {
  if (equal(before, after)) return;
  const members = isObject(before) && isObject(after);
  const items = isArray(before) && isArray(after) && after.length >= before.length;
  if (!members && !items) {
    set(path, after);
    return;
  }
  for (const [key, value] of Object.entries(after)) {
    const token = items ? Number(key) : key;
    const was = (before as Readonly<Record<string, Json>>)[key];
    if (was === undefined || !Object.hasOwn(before, key)) set([...path, token], value);
    else setChanges([...path, token], was, value, set);
  }
}

function canonical(value: Json): Json {
  if (typeof value === 'bigint') return jsonInteger(value);
  if (isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, canonical(member)]));
}

function isContainer(value: Json): boolean {
  return isObject(value) || isArray(value);
}

function sortMembers(value: Json): Json {
  if (isArray(value)) return value.map(sortMembers);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sortMembers(value[name] ?? null)]));
}
