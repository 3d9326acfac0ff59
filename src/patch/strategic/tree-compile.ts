import { compilePattern } from '../../expression/conditions/pattern.ts';
import {
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  type Path,
} from '../../json/value.ts';
import { type Anchor, intendedAnchor, parseAnchor } from './anchor-syntax.ts';
import { addedPart, comparedPart } from './condition-parts.ts';
import { type MapDirectives, takeDirective, takeListDirective } from './directives.ts';
import {
  type AnchorsInside,
  type AnchorTest,
  insideOf,
  isOwnKey,
  joinInside,
  type ListNode,
  type MapEntry,
  type MapNode,
  nothingInside,
  type OverlayKey,
  type OverlayNode,
  type PostMergeDirectives,
  type RunValues,
  type ScalarNode,
} from './tree.ts';
import type { OverlayBuild } from './tree-build.ts';

export function compileNode(value: Json, path: Path, build: OverlayBuild): OverlayNode {
  if (isObject(value)) return compileMap(value, path, build);
  if (isArray(value)) return compileList(value, path, build);
  const filled = build.fill(value, path);
  if (filled.slot !== undefined) return { type: 'variable', slot: filled.slot, schema: undefined };
  return { type: 'scalar', value: filled.value as ScalarNode['value'], isDeclared: false };
}

export function compileMap(value: JsonObject, path: Path, build: OverlayBuild): MapNode {
  if (build.tooDeep(path)) return emptyMap;
  const globals: AnchorTest[] = [];
  const conditions: AnchorTest[] = [];
  const entries: MapEntry[] = [];
  const directives: MapDirectives = { directive: 'merge', deletions: [], orders: [] };
  for (const [text, inner] of Object.entries(value)) {
    const at = [...path, text];
    if (build.syntax.directives && takeDirective(text, inner, at, build, directives)) continue;
    const anchor = build.syntax.anchors ? parseAnchor(text) : undefined;
    const intended = build.syntax.anchors ? intendedAnchor(text) : undefined;
    if (intended !== undefined) build.misspelled(text, intended, at);
    if (anchor?.type === 'unsupported') build.unsupported(anchor, at);
    else if (anchor?.type === 'condition' || anchor?.type === 'global') {
      if (!checkAnchors(inner, at, build)) continue;
      const test = compileTest(anchor, comparedPart(inner), at, build);
      (anchor.type === 'condition' ? conditions : globals).push(test);
      const added = addedPart(inner);
      if (added === undefined) continue;
      entries.push(entryOf(test.key, false, compileNode(added, at, build)));
    } else {
      const key = compileKey(anchor?.key ?? text, at, build);
      entries.push(entryOf(key, anchor?.type === 'add', compileNode(inner, at, build)));
    }
  }
  const { directive } = directives;
  const adds = entries.some((entry) => entry.add || insideOf(entry.node).adds);
  const tests = entries.some((entry) => insideOf(entry.node).conditions);
  if ((directive !== 'merge' && adds) || (directive === 'replace' && tests)) build.discards(directive, path);
  return finishMap(globals, conditions, entries, directives);
}

function entryOf(key: OverlayKey, add: boolean, node: OverlayNode): MapEntry {
  return { key, isOwn: isOwnKey(key), add, node };
}

const emptyMap: MapNode = finishMap([], [], [], { directive: 'merge', deletions: [], orders: [] });

export function finishMap(
  globals: readonly AnchorTest[],
  conditions: readonly AnchorTest[],
  entries: readonly MapEntry[],
  { directive, retainKeys, deletions, orders }: PostMergeDirectives & Pick<MapNode, 'directive'>,
): MapNode {
  const hasDirectives = retainKeys !== undefined || deletions.length > 0 || orders.length > 0;
  const plain = new Map<string, OverlayNode>();
  for (const entry of entries) {
    if (!entry.add && typeof entry.key === 'string') plain.set(entry.key, entry.node);
  }
  const inside = insideOfMap(globals, conditions, entries);
  const directives = hasDirectives
    ? { ...(retainKeys !== undefined && { retainKeys }), deletions, orders }
    : undefined;
  const constant =
    directive === 'merge' && !hasDirectives && !inside.conditions ? constantMap(entries) : undefined;
  const anchored = inside.conditions || inside.adds;
  // All nodes have the same fields in the same order, which keeps property access monomorphic.
  const nodeWith = (entries: readonly MapEntry[], constant?: JsonObject, nameless?: MapNode): MapNode => ({
    type: 'map',
    directive,
    globals,
    conditions,
    entries,
    plain,
    directives,
    inside,
    constant,
    nameless,
  });
  const nameless = anchored && plain.has('name') ? nodeWith(entries.filter(isNotName)) : undefined;
  return nodeWith(entries, constant, nameless);
}

function isNotName(entry: MapEntry): boolean {
  return entry.add || entry.key !== 'name';
}

function insideOfMap(
  globals: readonly AnchorTest[],
  conditions: readonly AnchorTest[],
  entries: readonly MapEntry[],
): AnchorsInside {
  let inside = nothingInside;
  if (globals.length > 0) inside = joinInside(inside, { conditions: true, globals: true, adds: false });
  if (conditions.length > 0) inside = joinInside(inside, { conditions: true, globals: false, adds: false });
  for (const entry of entries) {
    if (entry.add) inside = joinInside(inside, { conditions: false, globals: false, adds: true });
    inside = joinInside(inside, insideOf(entry.node));
  }
  return inside;
}

/** Lists of maps are checked at evaluation: whether their items need a key depends on the kind. */
function constantMap(entries: readonly MapEntry[]): JsonObject | undefined {
  const members: [string, Json][] = [];
  for (const { key, node } of entries) {
    if (typeof key !== 'string' || node.type === 'variable') return undefined;
    if (node.type === 'scalar') {
      if (node.value !== null) members.push([key, node.value]);
      continue;
    }
    if (node.constant === undefined || (node.type === 'list' && !node.constant.every(isScalar)))
      return undefined;
    members.push([key, node.constant]);
  }
  return Object.fromEntries(members) as JsonObject;
}

function isScalar(value: Json): boolean {
  return typeof value !== 'object' || value === null;
}

function compileTest(anchor: Anchor, value: Json, path: Path, build: OverlayBuild): AnchorTest {
  const key = compileKey(anchor.key, path, build);
  return { text: anchor.text, key, isOwn: isOwnKey(key), ...compileCondition(value, path, build) };
}

function compileKey(text: string, path: Path, build: OverlayBuild): OverlayKey {
  const filled = build.fill(text, path);
  return filled.slot === undefined ? String(filled.value) : { slot: filled.slot };
}

function compileList(value: JsonArray, path: Path, build: OverlayBuild): ListNode {
  if (build.tooDeep(path))
    return { type: 'list', directive: 'merge', items: [], inside: nothingInside, constant: undefined };
  const items: OverlayNode[] = [];
  let directive: ListNode['directive'] = 'merge';
  let inside = nothingInside;
  for (const [index, inner] of value.entries()) {
    const at = [...path, index];
    const word = build.syntax.directives ? takeListDirective(inner, at, build) : undefined;
    if (word !== undefined) {
      directive = word;
      continue;
    }
    const item = compileNode(inner, at, build);
    inside = joinInside(inside, insideOf(item));
    items.push(item);
  }
  if (directive !== 'merge' && inside !== nothingInside) build.discards(directive, path);
  return finishList(directive, items, inside);
}

export function finishList(
  directive: ListNode['directive'],
  items: readonly OverlayNode[],
  inside: AnchorsInside,
): ListNode {
  const constant = inside === nothingInside ? constantList(items) : undefined;
  return { type: 'list', directive, items, inside, constant };
}

function constantList(items: readonly OverlayNode[]): readonly Json[] | undefined {
  const values: Json[] = [];
  for (const item of items) {
    const value = item.type === 'scalar' ? item.value : item.type === 'variable' ? undefined : item.constant;
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

/** Compiles the value of a condition anchor, without `+()` keys, into a test. No part of it is ever written. */
function compileCondition(
  value: Json,
  path: Path,
  build: OverlayBuild,
): Pick<AnchorTest, 'holds' | 'expected'> {
  const filled = build.fill(value, path);
  if (filled.slot === undefined) {
    const expected = filled.value;
    return { holds: compilePattern(expected), expected: () => expected };
  }
  const { slot } = filled;
  return {
    holds: (actual, values) => patternOf(slot, values)(actual),
    expected: ({ slots }) => slots[slot] ?? null,
  };
}

/** Checks the compared part of a condition. Returns false after reporting a problem. */
function checkAnchors(value: Json, path: Path, build: OverlayBuild): boolean {
  if (!isObject(value) && !isArray(value)) return true;
  if (build.tooDeep(path)) return false;
  if (isArray(value)) {
    return value.map((item, index) => checkAnchors(item, [...path, index], build)).every(Boolean);
  }
  let sound = true;
  for (const [key, inner] of Object.entries(value)) {
    const at = [...path, key];
    const anchor = parseAnchor(key);
    if (anchor?.type === 'add') continue;
    if (anchor?.type === 'unsupported') {
      sound = false;
      build.unsupported(anchor, at);
    }
    sound = checkAnchors(inner, at, build) && sound;
  }
  return sound;
}

// Starts with a letter and contains no operator: not a number, range or wildcard, so only an equal string matches.
const literalText = /^[A-Za-z][^*?|&!\s]*$/;

function patternOf(slot: number, values: RunValues): (value: Json) => boolean {
  const known = values.patterns?.[slot];
  if (known !== undefined) return known;
  const expected = values.slots[slot] ?? null;
  const pattern =
    typeof expected === 'string' && literalText.test(expected)
      ? (value: Json) => (typeof value === 'boolean' ? String(value) : value) === expected
      : compilePattern(expected);
  values.patterns ??= [];
  values.patterns[slot] = pattern;
  return pattern;
}
