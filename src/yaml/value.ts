import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar } from 'yaml';
import { isNumber, type Json, type JsonArray, type JsonObject, type PathToken } from '../json/value.ts';
import { decodeBase64, NonFiniteNumberError, resolveYamlScalar, typedScalarStarts } from './scalar.ts';

/** Source offsets of a container (`start`) and of each of its keys or items. */
export interface SourceOffsets {
  readonly start: number;
  readonly members: ReadonlyMap<PathToken, number>;
  /** Plain scalars that are not strings, as written. */
  readonly scalars?: ReadonlyMap<PathToken, string> | undefined;
  /** Where the source of each scalar begins and ends. */
  readonly ranges: ReadonlyMap<PathToken, readonly [number, number]>;
}

export interface YamlProblem {
  readonly kind: 'syntax' | 'aliases';
  readonly message: string;
  readonly offset: number;
}

/** More values than any policy has. Beyond this limit, aliases are treated as an attack on memory. */
const maximumAliasedValues = 100_000;

interface Converted {
  readonly value: Json;
  /** The number of values with all aliases expanded. */
  readonly size: number;
}

/** Converts a composed YAML document to JSON and records the offset of each key and item. */
export function convertYaml(
  root: Node | null,
  offsets: WeakMap<JsonObject | JsonArray, SourceOffsets>,
): { value: Json; problems: readonly YamlProblem[] } {
  const problems: YamlProblem[] = [];
  const anchors = new Map<string, Converted | 'open'>();
  let aliased = 0;

  function fail(node: Node, message: string, kind: YamlProblem['kind'] = 'syntax'): Converted {
    problems.push({ kind, message, offset: startOf(node) });
    return { value: null, size: 1 };
  }

  function convert(node: Node | null): Converted {
    if (node === null) return { value: null, size: 1 };
    if (isAlias(node)) return convertAlias(node, node.source);
    const anchor = node.anchor;
    if (anchor !== undefined) anchors.set(anchor, 'open');
    const converted = convertContent(node);
    if (anchor !== undefined) anchors.set(anchor, converted);
    return converted;
  }

  function convertContent(node: Node): Converted {
    if (isScalar(node)) return { value: scalar(node), size: 1 };
    if (isSeq(node)) return list(node);
    if (isMap(node)) return map(node);
    return fail(node, 'this has no JSON equivalent');
  }

  function convertAlias(node: Node, name: string): Converted {
    const target = anchors.get(name);
    if (target === undefined) return fail(node, `the alias *${name} has no anchor before it`);
    if (target === 'open')
      return fail(node, `the alias *${name} is inside the value it refers to`, 'aliases');
    const wasBelow = aliased <= maximumAliasedValues;
    aliased += target.size;
    if (aliased <= maximumAliasedValues) return target;
    // Report one problem: every later alias exceeds the limit too.
    if (!wasBelow) return { value: null, size: 1 };
    return fail(node, `aliases expand this document to more than ${maximumAliasedValues} values`, 'aliases');
  }

  function list(node: Node & { items: unknown[] }): Converted {
    const value: Json[] = [];
    const members = new Map<PathToken, number>();
    const scalars = new Map<PathToken, string>();
    const ranges = new Map<PathToken, readonly [number, number]>();
    let size = 1;
    for (const item of node.items as Node[]) {
      addRange(ranges, value.length, item);
      members.set(value.length, startOf(item, startOf(node)));
      keepSource(scalars, value.length, item);
      const converted = convert(item);
      value.push(converted.value);
      size += converted.size;
    }
    offsets.set(value, { start: startOf(node), members, scalars, ranges });
    return { value, size };
  }

  function map(node: Node & { items: Pair[] }): Converted {
    const value: Record<string, Json> = {};
    const members = new Map<PathToken, number>();
    const scalars = new Map<PathToken, string>();
    const ranges = new Map<PathToken, readonly [number, number]>();
    const inherited: Json[] = [];
    let size = 1;
    for (const pair of node.items) {
      const keyNode = pair.key as Node | null;
      if (isMergeKey(keyNode)) {
        const merged = convert(pair.value as Node | null);
        inherited.push(...(Array.isArray(merged.value) ? merged.value : [merged.value]));
        size += merged.size;
        continue;
      }
      const key = keyText(keyNode, node);
      if (key === undefined) continue;
      if (members.has(key)) fail(keyNode ?? node, `duplicate key ${JSON.stringify(key)}`);
      const converted = convert(pair.value as Node | null);
      defineMember(value, key, converted.value);
      members.set(key, startOf(keyNode, startOf(node)));
      keepSource(scalars, key, pair.value as Node | null);
      addRange(ranges, key, pair.value as Node | null);
      size += converted.size;
    }
    for (const source of inherited) mergeInto(value, members, source, node);
    offsets.set(value, { start: startOf(node), members, scalars, ranges });
    return { value, size };
  }

  function mergeInto(value: Record<string, Json>, members: Map<PathToken, number>, source: Json, node: Node) {
    if (typeof source !== 'object' || source === null || Array.isArray(source)) {
      fail(node, 'the value of `<<` must be a map or a list of maps');
      return;
    }
    const from = offsets.get(source as JsonObject);
    for (const [key, inheritedValue] of Object.entries(source)) {
      if (members.has(key)) continue;
      defineMember(value, key, inheritedValue);
      members.set(key, from?.members.get(key) ?? startOf(node));
    }
  }

  function keyText(node: Node | null, owner: Node): string | undefined {
    const resolved = node !== null && isAlias(node) ? convert(node).value : undefined;
    const key = resolved ?? (node !== null && isScalar(node) ? scalar(node) : null);
    if (typeof key === 'string') return key;
    if (isNumber(key) || typeof key === 'boolean') return String(key);
    fail(node ?? owner, 'a key must be a string');
    return undefined;
  }

  function scalar(node: Scalar): Json {
    const text = node.source ?? '';
    if (node.tag === 'tag:yaml.org,2002:binary') return decodeBase64(text);
    const isText = node.tag === '!' || node.tag === 'tag:yaml.org,2002:str';
    if (isText || (node.type !== undefined && node.type !== 'PLAIN')) return text;
    try {
      return resolveYamlScalar(text);
    } catch (error) {
      if (!(error instanceof NonFiniteNumberError)) throw error;
      return fail(node, error.message).value;
    }
  }

  return { value: convert(root).value, problems };
}

function keepSource(scalars: Map<PathToken, string>, token: PathToken, node: Node | null): void {
  if (node === null || !isScalar(node) || node.type !== 'PLAIN' || node.tag !== undefined) return;
  const text = node.source ?? '';
  if (typedScalarStarts.includes(text.slice(0, 1))) scalars.set(token, text);
}

/** Assignment would call the `__proto__` setter; keys come from users and are data. */
function defineMember(object: Record<string, Json>, key: string, value: Json): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

function isMergeKey(node: Node | null): boolean {
  return node !== null && isScalar(node) && node.type === 'PLAIN' && node.value === '<<';
}

function addRange(
  ranges: Map<PathToken, readonly [number, number]>,
  key: PathToken,
  node: Node | null,
): void {
  if (isScalar(node) && node.range) ranges.set(key, [node.range[0], node.range[1]]);
}

function startOf(node: Node | null, fallback = 0): number {
  return node?.range?.[0] ?? fallback;
}
