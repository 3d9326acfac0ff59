import { diff } from '../json/diff/diff.ts';
import { metadataOf } from '../json/metadata.ts';
import type { PatchOperation } from '../json/patch/operation.ts';
import { formatPointer } from '../json/pointer.ts';
import type { JsonObject } from '../json/value.ts';
import type { CompiledPolicy, CompiledRule } from '../policy/compiled.ts';
import type { Failure, Outcome, SkipReason } from './outcome.ts';
import type { RuleEffect } from './rule.ts';
import type { RuleTrace } from './rule-trace.ts';

export function outcomeOf(
  policy: CompiledPolicy,
  rule: CompiledRule,
  before: JsonObject,
  effect: RuleEffect,
  trace?: RuleTrace,
): Outcome {
  if (effect.status === 'applied') return new AppliedOutcome(policy, rule, before, effect, trace);
  const outcome = otherOutcome(policy, rule, effect);
  return trace === undefined ? outcome : { ...outcome, trace };
}

function otherOutcome(
  policy: CompiledPolicy,
  rule: CompiledRule,
  effect: Exclude<RuleEffect, { status: 'applied' }>,
): Exclude<Outcome, { status: 'applied' }> {
  switch (effect.status) {
    case 'unchanged': {
      const message = effect.elements === undefined ? 'no patches applied' : '0 elements processed';
      const { misses, elements, annotations, warnings } = effect;
      return { policy, rule, status: 'unchanged', message, misses, elements, annotations, warnings };
    }
    case 'skipped':
      return skipped(policy, rule, effect.reason);
    case 'failed':
      return {
        policy,
        rule,
        status: 'failed',
        message: failureMessage(effect.failure),
        failure: effect.failure,
      };
  }
}

export function skipped(
  policy: CompiledPolicy,
  rule: CompiledRule,
  reason: SkipReason,
): Extract<Outcome, { status: 'skipped' }> {
  return { policy, rule, status: 'skipped', message: skipMessage(reason), reason };
}

type Applied = Extract<Outcome, { status: 'applied' }>;
type AppliedEffect = Extract<RuleEffect, { status: 'applied' }>;

/** The patch of a single rule is computed lazily: most callers never read it. */
class AppliedOutcome implements Applied {
  readonly status = 'applied';
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRule;
  readonly trace?: RuleTrace | undefined;
  readonly before: JsonObject;
  readonly #effect: AppliedEffect;
  #patch: readonly PatchOperation[] | undefined;

  constructor(
    policy: CompiledPolicy,
    rule: CompiledRule,
    before: JsonObject,
    effect: AppliedEffect,
    trace: RuleTrace | undefined,
  ) {
    if (trace !== undefined) this.trace = trace;
    this.policy = policy;
    this.rule = rule;
    this.before = before;
    this.#effect = effect;
  }

  get after(): JsonObject {
    return this.#effect.object;
  }

  get patch(): readonly PatchOperation[] {
    const patch = this.#patch ?? diff(this.before, this.after);
    this.#patch = patch;
    return patch;
  }

  get message(): string {
    return successMessage(this.after);
  }

  get misses(): Applied['misses'] {
    return this.#effect.misses;
  }

  get elements(): NonNullable<Applied['elements']> {
    return this.#effect.elements ?? [];
  }

  get annotations(): Applied['annotations'] {
    return this.#effect.annotations;
  }

  get warnings(): Applied['warnings'] {
    return this.#effect.warnings;
  }
}

function successMessage(object: JsonObject): string {
  const { name, namespace } = metadataOf(object);
  const { kind } = object;
  const target = `mutated ${typeof kind === 'string' ? kind : ''}/${typeof name === 'string' ? name : ''}`;
  return typeof namespace === 'string' && namespace !== '' ? `${target} in namespace ${namespace}` : target;
}

function skipMessage(reason: SkipReason): string {
  switch (reason.type) {
    case 'match':
      return 'the object does not match';
    case 'exclude':
      return `the object is excluded by ${formatPointer(reason.clause)}`;
    case 'namespace':
      return `the policy applies only in namespace ${reason.expected}`;
    case 'preconditions': {
      const messages = reason.conditions.filter(
        (condition) => !condition.passed && condition.message !== undefined,
      );
      return ['preconditions not met', ...messages.map((condition) => condition.message)].join('; ');
    }
    case 'anchor':
      return 'no patches applied';
    case 'exception':
      return reason.report === undefined
        ? `rule is skipped due to policy exceptions ${reason.exceptions.join(', ')}`
        : `rule is ${reason.report === 'pass' ? 'passed' : 'skipped'} due to policy exception: ${reason.exceptions.join(', ')}`;
    case 'matchCondition':
      return `the match condition ${reason.name} is false`;
    case 'parameter':
      return reason.detail;
    case 'applyRules':
      return `applyRules is One and rule ${reason.after} was applied`;
    case 'mutateExisting':
      return 'the rule mutates existing objects in the background';
  }
}

const STAGE_PREFIX: Readonly<Record<Failure['stage'], string>> = {
  evaluation: 'failed to evaluate policy',
  match: 'failed to match',
  context: 'failed to load context',
  preconditions: 'failed to evaluate preconditions',
  target: 'failed to find the target',
  list: 'failed to mutate elements',
  patch: 'failed to patch resource',
  identity: 'failed to patch resource',
};

const VARIABLE_CODES: ReadonlySet<string> = new Set(['KYM_VARIABLE_UNRESOLVED', 'KYM_EXPRESSION_FAILED']);

function failureMessage(failure: Failure): string {
  const prefix =
    failure.stage === 'patch' && VARIABLE_CODES.has(failure.code)
      ? 'variable substitution failed'
      : STAGE_PREFIX[failure.stage];
  return `${prefix}: ${failure.detail}`;
}
