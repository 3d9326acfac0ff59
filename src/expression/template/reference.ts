import { assignMember } from '../../json/edit.ts';
import { formatPointer } from '../../json/pointer.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';

/** An escaped reference, or a reference with an optional operator and its path. */
const pattern = /\\(\$\([^ )]+\))|\$\((?! |\))(>=|<=|>|<|!)?([^ )]*)\)/g;

interface Resolution {
  readonly root: Path;
  readonly reporter: Reporter;
  readonly leaves: () => Leaves;
}

/**
 * Replaces `$(/absolute/path)` and `$(../relative)` in keys and leaves with the string at that path of the document, once,
 * and `\$(…)` with `$(…)`. An unresolved reference is reported and left unchanged. Returns the document itself (===)
 * when it contains no reference.
 */
export function resolveReferences(document: Json, path: Path, reporter: Reporter): Json {
  let leaves: Leaves | undefined;
  const resolution: Resolution = {
    root: path,
    reporter,
    leaves: () => {
      leaves ??= listLeaves(document);
      return leaves;
    },
  };
  return resolveValue(document, [], resolution);
}

function resolveValue(value: Json, path: Path, resolution: Resolution): Json {
  if (typeof value === 'string') return resolveText(value, path, resolution);
  if (isArray(value)) {
    const list = value.map((item, index) => resolveValue(item, [...path, index], resolution));
    return list.every((item, index) => item === value[index]) ? value : list;
  }
  return isObject(value) ? resolveObject(value, path, resolution) : value;
}

function resolveObject(object: JsonObject, path: Path, resolution: Resolution): JsonObject {
  const result: Record<string, Json> = {};
  let changed = false;
  for (const [key, child] of Object.entries(object)) {
    const newKey = resolveText(key, path, resolution);
    const newChild = resolveValue(child, [...path, key], resolution);
    changed ||= newKey !== key || newChild !== child;
    assignMember(result, newKey, newChild);
  }
  return changed ? result : object;
}

function resolveText(text: string, path: Path, resolution: Resolution): string {
  if (!text.includes('$(')) return text;
  return text.replace(pattern, (written, escaped: string | undefined, operator = '', target: string = '') => {
    if (escaped !== undefined) return escaped;
    return resolveReference(written, operator, target, path, resolution) ?? written;
  });
}

function resolveReference(
  written: string,
  operator: string,
  target: string,
  path: Path,
  { root, reporter, leaves }: Resolution,
): string | undefined {
  const report = (problem: string, hint?: string) => {
    const message = `failed to resolve ${written} at path ${formatPointer([...root, ...path])}: ${problem}`;
    reporter.error([...root, ...path], 'KYM_REFERENCE_UNRESOLVED', message, hint);
    return undefined;
  };
  const asText = `for a literal string, write \\${written}`;
  if (target === '') return report('the reference is empty', asText);
  const location = locate(target, path);
  const value = findLeaf(leaves(), location);
  if (value === undefined) return report(`the rule has no value at ${location}`, asText);
  if (typeof value === 'string') return operator + value;
  if (operator === '') return report('a reference must point to a string');
  if (typeof value === 'number') return operator + value.toFixed(6);
  if (typeof value === 'bigint') return operator + String(value);
  return report(`the operator ${operator} needs a string or a number`);
}

/** The scalars of a document by path, without anchors: `/mutate/patchStrategicMerge/metadata/name`. */
type Leaves = ReadonlyMap<string, Json>;

function listLeaves(document: Json): Leaves {
  const leaves = new Map<string, Json>();
  const visit = (value: Json, location: string): void => {
    if (!isArray(value) && !isObject(value)) leaves.set(location, value);
    else for (const [key, child] of Object.entries(value)) visit(child, `${location}/${segment(key)}`);
  };
  visit(document, '');
  return leaves;
}

function findLeaf(leaves: Leaves, location: string): Json | undefined {
  return leaves.get(location) ?? undefined;
}

/** The absolute path of a reference. A relative one starts from its own leaf. */
function locate(target: string, from: Path): string {
  const segments = target.startsWith('/') ? [] : from.map((token) => segment(String(token)));
  for (const step of target.split(/(?<!\\)\//)) {
    if (step === '..') segments.pop();
    else if (step !== '' && step !== '.') segments.push(step);
  }
  return `/${segments.join('/')}`;
}

const anchor = /^[+<=X^]?\((.+)\)$/;

/** A key as a path segment: without its anchor, with slashes escaped. */
function segment(key: string): string {
  const name = anchor.exec(key.trim())?.[1] ?? key;
  return name.includes('/') ? name.replaceAll('/', '\\/') : name;
}
