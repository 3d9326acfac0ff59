import type { Conflict, RuleUnderTest } from '../../analysis/interplay/conflict.ts';
import { findConflicts } from '../../analysis/interplay/conflict.ts';
import { findRuleCycles, type RuleCycle } from '../../analysis/interplay/cycles.ts';
import { type Example, examplesFor } from '../../analysis/interplay/example-object.ts';
import { failingRuleProblems } from '../../analysis/interplay/failing-rules.ts';
import { findNonIdempotentRules, type NonIdempotentRule } from '../../analysis/interplay/idempotence.ts';
import { writeSet } from '../../analysis/writes/write-set.ts';
import type { ErrorCode } from '../../errors.ts';
import { Budget, BudgetError, generousLimits, withBudget } from '../../json/budget.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { formatPointer } from '../../json/pointer.ts';
import type { Json, JsonObject, Path } from '../../json/value.ts';
import { titleOf, withDefaultNamespace } from '../../offline/object-identity.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import type { PolicySource } from '../../policy/problem-collector.ts';
import { createSnapshot } from '../../policy/registry/registry.ts';
import type { Problem } from '../../problem.ts';

export interface InterplayOptions {
  /** Sources by document, for lines and columns. */
  readonly sources: ReadonlyMap<JsonObject, PolicySource>;
  /** Objects to run the policies on. By default examples are derived from the rules. */
  readonly objects?: readonly JsonObject[] | undefined;
}

/** For each kind of search: about half a second. */
const mostTrialSteps = 10_000_000;

/** Runs policies on examples to find conflicts, endless loops and rules that are not idempotent. */
export function interplayProblems(
  policies: readonly CompiledPolicy[],
  { sources, objects }: InterplayOptions,
): readonly Problem[] {
  const given = objects?.map(
    (object): Example => ({
      object: withDefaultNamespace(object),
      operation: 'CREATE',
      namespaceLabels: {},
    }),
  );
  const ordered = createSnapshot(policies).policies;
  const skipped: Problem[] = [];
  /** Trials grow with the square of the number of rules, so each kind of them has a budget. */
  function withinBudget<T>(what: string, search: () => readonly T[]): readonly T[] {
    try {
      return withBudget(new Budget({ ...generousLimits, steps: mostTrialSteps }), search);
    } catch (error) {
      if (!(error instanceof BudgetError)) throw error;
      skipped.push(tooManyTrials(what));
      return [];
    }
  }
  const byPolicy = ordered.map((policy) => ({
    policy,
    rules: policy.rules.map(
      (rule): RuleUnderTest => ({
        policy,
        rule,
        writes: writeSet(rule),
        examples: given ?? examplesFor(policy, rule),
      }),
    ),
  }));
  const nonIdempotent = withinBudget('rules that are not idempotent', () =>
    byPolicy.flatMap(({ policy, rules }) =>
      findNonIdempotentRules(policy, [...new Set(rules.flatMap(({ examples }) => examples))]),
    ),
  );
  const unstable = new Set(nonIdempotent.map(({ rule }) => rule));
  const steady = byPolicy.flatMap(({ rules }) => rules.filter(({ rule }) => !unstable.has(rule)));
  const conflicts = withinBudget('rules that write different values', () => findConflicts(steady));
  const cycles = withinBudget('rules that trigger each other', () => findRuleCycles(steady));
  return [
    ...skipped,
    ...(given === undefined
      ? ordered.flatMap((policy) =>
          failingRuleProblems(policy, sources.get(policy.document) ?? { file: policy.source.file }),
        )
      : []),
    ...nonIdempotent.map((found) => describeNonIdempotent(found, sources)),
    ...conflicts.map((found) => describeConflict(found, sources)),
    ...cycles.map((found) => describeCycle(found, sources)),
  ];
}

function tooManyTrials(what: string): Problem {
  return {
    code: 'KYM_BUDGET_EXHAUSTED',
    severity: 'warning',
    pointer: '',
    message: `the search for ${what} was ended: it takes too many trial runs`,
    hint: 'Validate fewer policies at a time, or give a few objects with -r.',
  };
}

interface Place {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRule;
}

function problemAt(
  code: ErrorCode,
  { policy, rule }: Place,
  path: Path,
  sources: InterplayOptions['sources'],
  texts: { readonly message: string; readonly hint: string },
): Problem {
  const at = [...rule.path, ...path];
  const source = sources.get(policy.document);
  return {
    code,
    severity: 'warning',
    ...texts,
    pointer: formatPointer(at),
    file: policy.source.file,
    ...(source?.positionOf?.(at) ?? { line: policy.source.line }),
    policy: policy.key,
    rule: rule.autogenOf ?? rule.name,
  };
}

function describeNonIdempotent(found: NonIdempotentRule, sources: InterplayOptions['sources']): Problem {
  const { place, once, twice, example } = found;
  return problemAt('KYM_NOT_IDEMPOTENT', found, ['mutate'], sources, {
    message: `a second run of the policy changes the object again: ${place} is ${shown(once)} after the first run and ${shown(twice)} after the second`,
    hint: `Let a precondition or an anchor see that the change was made. ${shownExample(example)}`,
  });
}

function describeConflict(conflict: Conflict, sources: InterplayOptions['sources']): Problem {
  const { first, second, place, outcome, reversed, example } = conflict;
  const reason =
    first.policy === second.policy
      ? `rule ${first.rule.name} stands first`
      : `policies run by name, ${first.policy.key} first`;
  return problemAt('KYM_CONFLICT', second, second.write.source, sources, {
    message: `${place} is written by ${nameOf(first)} too, with another value: ${written(first.write)} there, ${written(second.write)} here. ${reason}, so it ends as ${shown(outcome)}; the other way round it would be ${shown(reversed)}`,
    hint: `Keep one of the two, or let their match blocks exclude each other. ${shownExample(example)}`,
  });
}

function written({ effect, value }: Conflict['first']['write']): string {
  return effect === 'remove' ? 'removed' : shown(value);
}

function describeCycle({ rules, place, example }: RuleCycle, sources: InterplayOptions['sources']): Problem {
  const [first, ...others] = rules;
  if (first === undefined) throw new Error('a loop has rules');
  return problemAt('KYM_ENDLESS', first, ['mutate'], sources, {
    message: `this rule and ${others.map(nameOf).join(', ')} trigger each other without end: ${place} changes in every round`,
    hint: `Let one of them leave alone what another wrote. ${shownExample(example)}`,
  });
}

function nameOf({ policy, rule }: Place): string {
  return `rule ${rule.name} of policy ${policy.key} (${policy.source.file}:${policy.source.line})`;
}

const longest = 400;

function shown(value: Json | undefined): string {
  const text = value === undefined ? 'absent' : stringifyJson(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function shownExample({ object }: Example): string {
  const text = stringifyJson(object);
  return `Example: ${text.length > longest ? titleOf(object) : text}`;
}
