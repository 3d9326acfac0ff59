import { diff } from '../../json/diff/diff.ts';
import { equal } from '../../json/equal.ts';
import { read, readObject, readObjects, readText, readTextMap } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../json/value.ts';
import { parseAnchor } from '../../patch/strategic/anchor.ts';
import { filterBlocks } from '../../policy/check/match-blocks.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import type { WriteStep } from '../writes/write-step.ts';
import type { RuleUnderTest } from './conflict.ts';
import type { Example } from './example-object.ts';
import { onlyRule, tryOut } from './trial.ts';

/** Rules whose changes set one another off, so that an object never comes to rest. */
export interface RuleCycle {
  readonly rules: readonly { readonly policy: CompiledPolicy; readonly rule: CompiledRule }[];
  readonly example: Example;
  /** A place that goes on changing, as a pointer. */
  readonly place: string;
}

/** Rounds after which what still changes is taken never to stop: no sound chain of rules is that long. */
const mostRounds = 8;

/** `rules` in the order in which they run; those that are nonIdempotent by themselves are left out by the caller. */
export function findRuleCycles(rules: readonly RuleUnderTest[]): readonly RuleCycle[] {
  return cyclicGroups(rules).flatMap((group) => {
    for (const example of group.flatMap(({ examples }) => examples)) {
      const loop = runOn(group, example);
      if (loop !== undefined) return [loop];
    }
    return [];
  });
}

function runOn(group: readonly RuleUnderTest[], example: Example): RuleCycle | undefined {
  const all = goesOn(group, example);
  if (all === undefined) return undefined;
  const least = all.rules.reduce<Ongoing>((rest, rule) => {
    const others = rest.rules.filter((other) => other !== rule);
    return goesOn(others, example) ?? rest;
  }, all);
  // Rules that all act at once contradict each other; a loop needs one that acts on what another did.
  const isLoop = least.rules.some((rule) => changes(rule, example, example.object) === undefined);
  return least.rules.length > 1 && isLoop ? { ...least, example } : undefined;
}

interface Ongoing {
  readonly rules: readonly RuleUnderTest[];
  readonly place: string;
}

/** The rules that still change the object after many rounds; undefined when it comes to rest. */
function goesOn(rules: readonly RuleUnderTest[], example: Example): Ongoing | undefined {
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

/** Groups of rules in which each may, over the others, set off itself again: strongly connected, two or more. */
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
    const isShared = to.writes.some(({ kind: other }) => isSameKind(kind.kind, other.kind));
    return isShared && writes.some(({ path }) => reads.some((place) => touches(path, place)));
  });
}

function isSameKind(left: string, right: string): boolean {
  return left === right || left.includes('*') || right.includes('*');
}

/** Whether one place lies within the other; items of lists count as the list. */
function touches(path: readonly WriteStep[], place: readonly string[]): boolean {
  return place.every((name, index) => {
    const step = path[index];
    return step === undefined || step.type !== 'key' || step.name === name;
  });
}

/** The places of an object that decide what a rule does, as far as its text shows; `[]` is all of it. */
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
  const text = JSON.stringify(rule).replaceAll('\\"', '"');
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

/** Where anchors look, as far as the first list on the way. */
function anchorPaths(value: Json, path: readonly string[]): readonly (readonly string[])[] {
  if (isArray(value)) return value.some((item) => anchorPaths(item, []).length > 0) ? [path] : [];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const anchor = parseAnchor(key);
    const at = [...path, anchor?.key ?? key];
    return anchor === undefined ? anchorPaths(inner, at) : [at];
  });
}

/** Tarjan's strongly connected components, in the order of their first member; single ones are left out. */
function components(edges: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const order = new Map<number, number>();
  const low = new Map<number, number>();
  const stack: number[] = [];
  const found: number[][] = [];
  const visit = (node: number): void => {
    order.set(node, order.size);
    low.set(node, order.get(node) ?? 0);
    stack.push(node);
    for (const next of edges[node] ?? []) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0));
    }
    if (low.get(node) !== order.get(node)) return;
    const members = stack.splice(stack.indexOf(node));
    if (members.length > 1) found.push(members.sort((left, right) => left - right));
  };
  edges.forEach((_, node) => {
    if (!order.has(node)) visit(node);
  });
  return found.sort((left, right) => (left[0] ?? 0) - (right[0] ?? 0));
}
