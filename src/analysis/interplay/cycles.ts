import { spendSteps } from '../../json/budget.ts';
import { diff } from '../../json/diff/diff.ts';
import { equal } from '../../json/equal.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { read, readObject, readObjects, readText, readTextMap } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../json/value.ts';
import { parseAnchor } from '../../patch/strategic/anchor-syntax.ts';
import { filterBlocks } from '../../policy/check/match-blocks.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import type { WriteStep } from '../writes/write-step.ts';
import type { RuleUnderTest } from './conflict.ts';
import type { Example } from './example-object.ts';
import { onlyRule, tryOut } from './trial.ts';

/** Rules that trigger each other, so that an object never stops changing. */
export interface RuleCycle {
  readonly rules: readonly { readonly policy: CompiledPolicy; readonly rule: CompiledRule }[];
  readonly example: Example;
  /** Pointer to a value that keeps changing. */
  readonly place: string;
}

/** An object that still changes after this many rounds is assumed never to stop. */
const mostRounds = 8;

/** Expects `rules` in execution order, without rules that are not idempotent by themselves. */
export function findRuleCycles(rules: readonly RuleUnderTest[]): readonly RuleCycle[] {
  return cyclicGroups(rules).flatMap((group) => {
    for (const example of group.flatMap(({ examples }) => examples)) {
      const loop = findCycle(group, example);
      if (loop !== undefined) return [loop];
    }
    return [];
  });
}

function findCycle(group: readonly RuleUnderTest[], example: Example): RuleCycle | undefined {
  const all = keepsChanging(group, example);
  if (all === undefined) return undefined;
  const least = all.rules.reduce<Ongoing>((rest, rule) => {
    const others = rest.rules.filter((other) => other !== rule);
    return keepsChanging(others, example) ?? rest;
  }, all);
  // Rules that all apply to the original object are a conflict; a cycle needs one that reacts to another.
  const isLoop = least.rules.some((rule) => changes(rule, example, example.object) === undefined);
  return least.rules.length > 1 && isLoop ? { ...least, example } : undefined;
}

interface Ongoing {
  readonly rules: readonly RuleUnderTest[];
  readonly place: string;
}

/** The rules that still change the object after many rounds; undefined when the object is stable. */
function keepsChanging(rules: readonly RuleUnderTest[], example: Example): Ongoing | undefined {
  let object = example.object;
  let active: RuleUnderTest[] = [];
  let place = '';
  for (let round = 0; round < mostRounds; round++) {
    active = [];
    for (const each of rules) {
      const next = changes(each, example, object);
      if (next === undefined) continue;
      place = diff(object, next)[0]?.path ?? place;
      active.push(each);
      object = next;
    }
    if (active.length === 0) return undefined;
  }
  return { rules: active, place };
}

function changes(
  { policy, rule }: RuleUnderTest,
  example: Example,
  object: JsonObject,
): JsonObject | undefined {
  const trial = tryOut([onlyRule(policy, rule)], example, object, 0);
  return trial.failed || trial.applied.length === 0 || equal(trial.object, object) ? undefined : trial.object;
}

/** Groups of two or more rules that may trigger each other: strongly connected components. */
export function cyclicGroups(rules: readonly RuleUnderTest[]): readonly (readonly RuleUnderTest[])[] {
  const nodes = rules.filter(({ rule }) => rule.targets === undefined && rule.autogenOf === undefined);
  const reads = nodes.map(({ rule }) => readsOf(rule.document));
  const triggers = nodes.map((from) =>
    nodes.flatMap((to, index) => (from !== to && mayTrigger(from, to, reads[index] ?? []) ? [index] : [])),
  );
  return components(triggers).map((indexes) => indexes.flatMap((index) => nodes[index] ?? []));
}

function mayTrigger(from: RuleUnderTest, to: RuleUnderTest, reads: readonly (readonly string[])[]): boolean {
  return from.writes.some(({ kind, writes }) => {
    spendSteps(1 + to.writes.length + writes.length * reads.length);
    const isShared = to.writes.some(({ kind: other }) => isSameKind(kind.kind, other.kind));
    return isShared && writes.some(({ path }) => reads.some((place) => touches(path, place)));
  });
}

function isSameKind(left: string, right: string): boolean {
  return left === right || left.includes('*') || right.includes('*');
}

/** Whether one path contains the other; items of a list count as the list. */
function touches(path: readonly WriteStep[], place: readonly string[]): boolean {
  return place.every((name, index) => {
    const step = path[index];
    return step === undefined || step.type !== 'key' || step.name === name;
  });
}

/** The paths of an object that a rule reads, as far as they are literal; `[]` is the whole object. */
function readsOf(rule: JsonObject): readonly (readonly string[])[] {
  const filters = [readObject(rule, 'match'), readObject(rule, 'exclude')];
  const blocks = filters.flatMap((filter) => (filter === undefined ? [] : filterBlocks(filter, []).blocks));
  return [
    ...blocks.flatMap(({ resources }) => [
      ...selectorKeys(readObject(resources, 'selector')).map((key) => ['metadata', 'labels', key]),
      ...Object.keys(readTextMap(resources, 'annotations')).map((key) => ['metadata', 'annotations', key]),
    ]),
    ...expressionReads(rule),
    ...overlayReads(readObject(rule, 'mutate') ?? {}),
  ];
}

function selectorKeys(selector: JsonObject | undefined): readonly string[] {
  if (selector === undefined) return [];
  const expressions = readObjects(selector, 'matchExpressions').map((each) => readText(each, 'key') ?? '');
  return [...Object.keys(readTextMap(selector, 'matchLabels')), ...expressions];
}

function expressionReads(rule: JsonObject): readonly (readonly string[])[] {
  const text = stringifyJson(rule).replaceAll('\\"', '"');
  return [...text.matchAll(/request\.object((?:\.(?:[A-Za-z_]\w*|"[^"]*"))*)/g)].map(([, fields = '']) =>
    [...fields.matchAll(/\.(?:([A-Za-z_]\w*)|"([^"]*)")/g)].map((match) => match[1] ?? match[2] ?? ''),
  );
}

function overlayReads(mutate: JsonObject): readonly (readonly string[])[] {
  const owners = [mutate, ...readObjects(mutate, 'foreach')];
  return owners.flatMap((owner) =>
    ['patchStrategicMerge', 'overlay'].flatMap((field) => anchorPaths(read(owner, field) ?? null, [])),
  );
}

/** The paths that anchors read, up to the first list. */
function anchorPaths(value: Json, path: readonly string[]): readonly (readonly string[])[] {
  if (isArray(value)) return value.some((item) => anchorPaths(item, []).length > 0) ? [path] : [];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const anchor = parseAnchor(key);
    const at = [...path, anchor?.key ?? key];
    return anchor === undefined ? anchorPaths(inner, at) : [at];
  });
}

/** Tarjan's strongly connected components, in the order of their first member; without single nodes. */
function components(edges: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const order = new Map<number, number>();
  const low = new Map<number, number>();
  const stack: number[] = [];
  const onStack = new Set<number>();
  const found: number[][] = [];
  const visit = (node: number): void => {
    order.set(node, order.size);
    low.set(node, order.get(node) ?? 0);
    stack.push(node);
    onStack.add(node);
    for (const next of edges[node] ?? []) {
      if (!order.has(next)) visit(next);
      if (onStack.has(next)) low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0));
    }
    if (low.get(node) !== order.get(node)) return;
    const members = stack.splice(stack.lastIndexOf(node));
    for (const member of members) onStack.delete(member);
    if (members.length > 1) found.push(members.sort((left, right) => left - right));
  };
  edges.forEach((_, node) => {
    if (!order.has(node)) visit(node);
  });
  return found.sort((left, right) => (left[0] ?? 0) - (right[0] ?? 0));
}
