import { spendSteps } from '../../json/budget.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { isArray, isObject, type Json } from '../../json/value.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import type { KindWrites } from '../writes/write-set.ts';
import { formatSteps, stepFits, type Write, type WriteStep } from '../writes/write-step.ts';
import type { Example } from './example-object.ts';
import { onlyRule, tryOut } from './trial.ts';

/** A rule with its write set and example objects. */
export interface RuleUnderTest {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRule;
  readonly writes: readonly KindWrites[];
  readonly examples: readonly Example[];
}

/** Two rules that write different values to the same field, so the result depends on their order. */
export interface Conflict {
  /** In execution order. */
  readonly first: ConflictSide;
  readonly second: ConflictSide;
  /** Formatted for messages: `spec.replicas`. */
  readonly place: string;
  readonly example: Example;
  /** The value after both rules, and the value if the rules ran in reverse order. */
  readonly outcome: Json | undefined;
  readonly reversed: Json | undefined;
}

export interface ConflictSide {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRule;
  readonly write: Write;
}

interface Candidate extends ConflictSide {
  readonly examples: readonly Example[];
  readonly kinds: readonly string[];
  readonly alone: CompiledPolicy;
  readonly rank: number;
}

/**
 * Expects `rules` in execution order. Reports only pairs whose order matters on an example, and only the first
 * conflict of a rule at a path.
 */
export function findConflicts(rules: readonly RuleUnderTest[]): readonly Conflict[] {
  const byPlace = new Map<string, Candidate[]>();
  for (const [rank, { policy, rule, writes, examples }] of rules.entries()) {
    if (rule.autogenOf !== undefined || rule.targets !== undefined) continue;
    const alone = onlyRule(policy, rule);
    for (const write of new Set(writes.flatMap((kind) => kind.writes))) {
      if (!isFixed(write)) continue;
      const kinds = writes
        .filter((kind) => kind.writes.includes(write))
        .map(({ kind }) => `${kind.group}/${kind.kind}`);
      const place = formatSteps(write.path);
      const known = byPlace.get(place) ?? [];
      byPlace.set(place, known);
      known.push({ policy, rule, write, examples, kinds, alone, rank });
    }
  }
  return [...byPlace.values()].flatMap(conflictsAt);
}

/** A named field that is set to a constant or removed. List items are compared by their fields. */
function isFixed({ effect, value, path }: Write): boolean {
  const isField = path.at(-1)?.type === 'key';
  return isField && effect !== 'item' && (effect === 'remove' || value !== undefined);
}

/** Runs all rules that write to a path on the examples of each; rules that match the same example may conflict. */
function conflictsAt(candidates: readonly Candidate[]): readonly Conflict[] {
  const found = new Map<Candidate, Conflict>();
  const [first] = candidates;
  if (first === undefined || candidates.every(({ write }) => isSameWrite(write, first.write))) return [];
  for (const owner of candidates) {
    for (const example of owner.examples) {
      if (found.size === candidates.length - 1) return [...found.values()];
      const { matched } = tryOut(
        candidates.map(({ alone }) => alone),
        example,
        example.object,
        0,
      );
      const present = candidates.filter(({ rule }) => matched.has(rule));
      for (const second of present) {
        if (found.has(second)) continue;
        const conflict = firstConflict(second, present, owner, example);
        if (conflict !== undefined) found.set(second, conflict);
      }
    }
  }
  return [...found.values()];
}

function firstConflict(
  second: Candidate,
  present: readonly Candidate[],
  owner: Candidate,
  example: Example,
): Conflict | undefined {
  for (const first of present) {
    spendSteps(1);
    if (first.rank >= second.rank || isSameWrite(first.write, second.write)) continue;
    if (!first.kinds.some((kind) => second.kinds.some((other) => overlap(kind, other)))) continue;
    const isOnePolicy = first.policy === second.policy;
    // Within a policy, a later rule may deliberately override an earlier one for some objects, but not for all of them.
    if (isOnePolicy && (first.policy.applyRules === 'One' || owner !== first)) continue;
    const conflict = tryPair(first, second, example);
    if (conflict !== undefined) return conflict;
  }
  return undefined;
}

function isSameWrite(left: Write, right: Write): boolean {
  const isRemoval = (write: Write) => write.effect === 'remove';
  return isRemoval(left) === isRemoval(right) && stringifyJson(left.value) === stringifyJson(right.value);
}

function overlap(left: string, right: string): boolean {
  return left === right || left.includes('*') || right.includes('*');
}

function tryPair(first: Candidate, second: Candidate, example: Example): Conflict | undefined {
  const alone = [first, second].map((each) => tryOut([each.alone], example, example.object, 0));
  if (alone.some(({ failed, applied }) => failed || applied.length === 0)) return undefined;
  const [forward, backward] = [
    tryOut([first.alone, second.alone], example, example.object, 0),
    tryOut([second.alone, first.alone], example, example.object, 0),
  ];
  if (forward.failed || backward.failed) return undefined;
  const [outcome, reversed] = [forward, backward].map(({ object }) => valuesAt(object, first.write.path));
  if (stringifyJson(outcome) === stringifyJson(reversed)) return undefined;
  const place = formatSteps(first.write.path);
  return { first, second, place, example, outcome: outcome?.[0], reversed: reversed?.[0] };
}

function valuesAt(value: Json | undefined, path: readonly WriteStep[]): readonly Json[] {
  const [step, ...rest] = path;
  if (step === undefined) return value === undefined ? [] : [value];
  const members = isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  return members.flatMap(([token, inner]) => (stepFits(step, token, inner) ? valuesAt(inner, rest) : []));
}
