import { isArray, isObject, type Json } from '../json/value.ts';
import type { CompiledPolicy, CompiledRule } from '../policy/compiled.ts';
import type { KindWrites } from '../policy/write-set.ts';
import { formatSteps, stepFits, type Write, type WriteStep } from '../policy/write-step.ts';
import type { Example } from './example-object.ts';
import { onlyRule, tryOut } from './trial.ts';

/** A rule with what it may write, and objects to try it on. */
export interface RuleUnderTest {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRule;
  readonly writes: readonly KindWrites[];
  readonly examples: readonly Example[];
}

/** Two rules that write one place with different values: which of them runs last decides. */
export interface Conflict {
  /** In the order in which they run. */
  readonly first: ConflictSide;
  readonly second: ConflictSide;
  /** For people: `spec.replicas`. */
  readonly place: string;
  readonly example: Example;
  /** What stands there in the end, and what would if the rules ran the other way round. */
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
  readonly rank: number;
}

/** `rules` in the order in which they run. Only pairs whose order was seen to matter on an example are reported. */
export function findConflicts(rules: readonly RuleUnderTest[]): readonly Conflict[] {
  const byPlace = new Map<string, Candidate[]>();
  for (const [rank, { policy, rule, writes, examples }] of rules.entries()) {
    if (rule.autogenOf !== undefined || rule.targets !== undefined) continue;
    for (const write of new Set(writes.flatMap((kind) => kind.writes))) {
      if (!isFixed(write)) continue;
      const kinds = writes
        .filter((kind) => kind.writes.includes(write))
        .map(({ kind }) => `${kind.group}/${kind.kind}`);
      const place = formatSteps(write.path);
      byPlace.set(place, [...(byPlace.get(place) ?? []), { policy, rule, write, examples, kinds, rank }]);
    }
  }
  return [...byPlace.values()].flatMap((candidates) =>
    candidates.flatMap((first) => conflictsOf(first, candidates)),
  );
}

/** A field by its name, given a constant or removed; whether a list item is added is seen in what it holds. */
function isFixed({ effect, value, path }: Write): boolean {
  const isField = path.at(-1)?.type === 'key';
  return isField && effect !== 'item' && (effect === 'remove' || value !== undefined);
}

function conflictsOf(first: Candidate, candidates: readonly Candidate[]): readonly Conflict[] {
  return candidates.flatMap((second) => {
    if (second.rank <= first.rank || isSameWrite(first.write, second.write)) return [];
    if (!first.kinds.some((kind) => second.kinds.some((other) => overlap(kind, other)))) return [];
    const conflict = tryPair(first, second);
    return conflict === undefined ? [] : [conflict];
  });
}

function isSameWrite(left: Write, right: Write): boolean {
  const isRemoval = (write: Write) => write.effect === 'remove';
  return isRemoval(left) === isRemoval(right) && JSON.stringify(left.value) === JSON.stringify(right.value);
}

function overlap(left: string, right: string): boolean {
  return left === right || left.includes('*') || right.includes('*');
}

function tryPair(first: Candidate, second: Candidate): Conflict | undefined {
  const isOnePolicy = first.policy === second.policy;
  if (isOnePolicy && first.policy.applyRules === 'One') return undefined;
  // In one policy a later rule may be meant to override an earlier one for some objects: not for all that it is made for.
  const examples = isOnePolicy ? first.examples : [...first.examples, ...second.examples];
  const [one, other] = [onlyRule(first.policy, first.rule), onlyRule(second.policy, second.rule)];
  for (const example of examples) {
    const alone = [one, other].map((policy) => tryOut([policy], example, example.object, 0));
    if (alone.some(({ failed, applied }) => failed || applied.length === 0)) continue;
    const [forward, backward] = [
      tryOut([one, other], example, example.object, 0),
      tryOut([other, one], example, example.object, 0),
    ];
    if (forward.failed || backward.failed) continue;
    const [outcome, reversed] = [forward, backward].map(({ object }) => valuesAt(object, first.write.path));
    if (JSON.stringify(outcome) === JSON.stringify(reversed)) continue;
    const place = formatSteps(first.write.path);
    return { first, second, place, example, outcome: outcome?.[0], reversed: reversed?.[0] };
  }
  return undefined;
}

function valuesAt(value: Json | undefined, path: readonly WriteStep[]): readonly Json[] {
  const [step, ...rest] = path;
  if (step === undefined) return value === undefined ? [] : [value];
  const members = isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  return members.flatMap(([token, inner]) => (stepFits(step, token, inner) ? valuesAt(inner, rest) : []));
}
