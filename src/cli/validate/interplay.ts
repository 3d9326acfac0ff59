import type { Conflict, RuleUnderTest } from '../../analysis/interplay/conflict.ts';
import { findConflicts } from '../../analysis/interplay/conflict.ts';
import { findRuleCycles, type RuleCycle } from '../../analysis/interplay/cycles.ts';
import { type Example, examplesFor } from '../../analysis/interplay/example-object.ts';
import { findNonIdempotentRules, type NonIdempotentRule } from '../../analysis/interplay/idempotence.ts';
import { writeSet } from '../../analysis/writes/write-set.ts';
import type { ErrorCode } from '../../errors.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { formatPointer } from '../../json/pointer.ts';
import type { Json, JsonObject, Path } from '../../json/value.ts';
import { titleOf, withDefaultNamespace } from '../../offline/object-identity.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import type { PolicySource } from '../../policy/problem-collector.ts';
import { createSnapshot } from '../../policy/registry.ts';
import type { Problem } from '../../problem.ts';

export interface InterplayOptions {
  /** Sources by document, for lines and columns. */
  readonly sources: ReadonlyMap<JsonObject, PolicySource>;
  /** Objects to run the policies on. By default examples are derived from the rules. */
  readonly objects?: readonly JsonObject[] | undefined;
}

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
  const rules = ordered.flatMap((policy) =>
    policy.rules.map((rule) => ({
      policy,
      rule,
      writes: writeSet(rule),
      examples: given ?? examplesFor(policy, rule),
    })),
  );
  const nonIdempotent = ordered.flatMap((policy) =>
    findNonIdempotentRules(policy, examplesOf(policy, rules)),
  );
  const isNonIdempotent = ({ policy, rule }: RuleUnderTest) =>
    nonIdempotent.some((each) => each.policy === policy && each.rule === rule);
  const steady = rules.filter((rule) => !isNonIdempotent(rule));
  return [
    ...nonIdempotent.map((found) => describeNonIdempotent(found, sources)),
    ...findConflicts(steady).map((found) => describeConflict(found, sources)),
    ...findRuleCycles(steady).map((found) => describeCycle(found, sources)),
  ];
}

function examplesOf(policy: CompiledPolicy, rules: readonly RuleUnderTest[]): readonly Example[] {
  return [...new Set(rules.filter((rule) => rule.policy === policy).flatMap(({ examples }) => examples))];
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
