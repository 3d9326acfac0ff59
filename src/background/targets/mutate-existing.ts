import type { ContextSettings } from '../../engine/context/context.ts';
import { DataCache } from '../../engine/context/data-cache.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import { RequestFacts, RequestScope } from '../../engine/context/request-scope.ts';
import { ValuesLayer } from '../../engine/context/scope-layers.ts';
import type { Failure, Outcome } from '../../engine/outcome.ts';
import { outcomeOf } from '../../engine/outcomes.ts';
import type { Request } from '../../engine/request.ts';
import { type RuleEffect, runRule } from '../../engine/rule.ts';
import { type Environment, EvaluationError, type Scope } from '../../expression/scope.ts';
import { BudgetError } from '../../json/budget.ts';
import { equal } from '../../json/equal.ts';
import type { JsonObject } from '../../json/value.ts';
import type {
  CompiledException,
  CompiledPolicy,
  CompiledRule,
  CompiledTarget,
} from '../../policy/compiled.ts';
import type { CompiledCelTargets } from '../../policy/compiled-cel.ts';
import { createEvaluate, type EvaluationOptions } from '../evaluate.ts';
import { refKey } from '../object-identity.ts';
import { type ObjectReader, type ObjectRef, StoreError } from '../ports.ts';
import { contextSettings, ruleScope } from '../triggers/triggered-rules.ts';
import { findCelTargets, runCelTarget } from './cel-targets.ts';
import { createListCache } from './list-cache.ts';
import { type FoundTarget, findTargets, renderTarget } from './target-lookup.ts';

/** A rule with targets and a trigger that matches it. */
export interface TargetRun {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRule;
  readonly request: Request;
  readonly reader: ObjectReader;
  readonly dataSource: DataSource;
  readonly environment: Environment;
  readonly evaluation?: EvaluationOptions | undefined;
  /** Exceptions that `exceptions` of a MutatingPolicy reads. */
  readonly exceptions?: readonly CompiledException[] | undefined;
  /** A run of a MutatingPolicy without a trigger: the request describes each target. */
  readonly eachTarget?: boolean | undefined;
  /** Also record the result of each foreach element. */
  readonly explain?: boolean | undefined;
}

export interface TargetResult {
  /** Empty fields if the target could not be read. */
  readonly ref: ObjectRef;
  /** Indexes of the rule's targets that select the object. */
  readonly selectedBy: readonly number[];
  /** Undefined if the target could not be read. */
  readonly before: JsonObject | undefined;
  /** Identical (===) to `before` if nothing changes. */
  readonly after: JsonObject | undefined;
  readonly outcome: Outcome;
  /** Why the target could not be read. */
  readonly storeError?: StoreError | undefined;
}

/** Evaluates a rule on its targets without writing. An object that several targets select is evaluated once. */
export async function mutateTargets(run: TargetRun): Promise<readonly TargetResult[]> {
  const celTargets = celTargetsOf(run.rule);
  if (celTargets !== undefined) return mutateCelTargets(run, celTargets);
  const evaluator = createEvaluator(run);
  const evaluate = createEvaluate(run.evaluation);
  const reader = createListCache(run.reader);
  const results: TargetResult[] = [];
  const selected = new Map<string, { readonly found: FoundTarget; readonly by: number[] }>();
  for (const [index, target] of (run.rule.targets ?? []).entries()) {
    const found = await lookUp(target, index);
    for (const one of found) {
      const key = refKey(one.ref);
      const known = selected.get(key);
      if (known === undefined) selected.set(key, { found: one, by: [index] });
      else known.by.push(index);
    }
  }
  for (const { found, by } of selected.values()) {
    results.push(await evaluator.mutate(found.ref, found.object, by));
  }
  return results;

  async function lookUp(target: CompiledTarget, index: number): Promise<readonly FoundTarget[]> {
    try {
      const query = await evaluate(() => renderTarget(target, evaluator.scope));
      return await findTargets(query, run.policy, reader);
    } catch (error) {
      results.push(notRead(run, target, index, error));
      return [];
    }
  }
}

/** Evaluates a rule on one target that was read again after a conflict. */
export function mutateTarget(
  run: TargetRun,
  ref: ObjectRef,
  object: JsonObject,
  selectedBy: readonly number[],
): Promise<TargetResult> {
  const celTargets = celTargetsOf(run.rule);
  if (celTargets !== undefined) return mutateCelTarget(run, celTargets, { ref, object });
  return createEvaluator(run).mutate(ref, object, selectedBy);
}

function celTargetsOf({ mutation }: CompiledRule): CompiledCelTargets | undefined {
  return mutation.type === 'cel' ? mutation.program.targets : undefined;
}

async function mutateCelTargets(
  run: TargetRun,
  targets: CompiledCelTargets,
): Promise<readonly TargetResult[]> {
  const unread = (error: unknown) => notRead(run, { path: ['spec', 'targetMatchConstraints'] }, 0, error);
  const results: TargetResult[] = [];
  try {
    for (const one of await findCelTargets(run, targets, createListCache(run.reader)))
      results.push('error' in one ? unread(one.error) : await mutateCelTarget(run, targets, one));
  } catch (error) {
    results.push(unread(error));
  }
  return results;
}

async function mutateCelTarget(
  run: TargetRun,
  targets: CompiledCelTargets,
  { ref, object }: FoundTarget,
): Promise<TargetResult> {
  const effect = await runCelTarget(run, targets, object);
  const after = effect.status === 'applied' ? effect.object : object;
  return resultOf(run, { ref, selectedBy: [0], before: object, after }, [effect]);
}

interface TargetEvaluator {
  /** The trigger and the rule context, shared by all targets. */
  readonly scope: Scope;
  mutate(ref: ObjectRef, object: JsonObject, selectedBy: readonly number[]): Promise<TargetResult>;
}

function createEvaluator(run: TargetRun): TargetEvaluator {
  const { policy, rule, request } = run;
  const data = new DataCache(run.dataSource);
  const facts = new RequestFacts(request, run.environment);
  const scope = ruleScope(policy, rule, new RequestScope(facts, request.object), request, data);
  const settings: ContextSettings = contextSettings(policy, rule, request, data);
  return {
    scope,
    async mutate(ref, object, selectedBy) {
      const effects: RuleEffect[] = [];
      // Each target has its own budget: the number of targets is not the rule's fault.
      const evaluate = createEvaluate(run.evaluation);
      let current = object;
      for (const index of selectedBy) {
        const target = rule.targets?.[index];
        if (target === undefined) continue;
        const effect = await evaluate(() =>
          runRule(ruleForTarget(rule, target), current, {
            context: settings,
            explain: run.explain ?? false,
            scopeFor: (now) => new ValuesLayer(scope, { target: now }),
            exceptions: () => [],
          }),
        );
        effects.push(effect.status === 'failed' ? failedAt(effect, target) : effect);
        if (effect.status === 'applied') current = effect.object;
        if (effect.status === 'failed') current = object;
        if (effect.status === 'failed') break;
      }
      return resultOf(run, { ref, selectedBy, before: object, after: current }, effects);
    },
  };
}

/** A target has its own context and preconditions. Those of the rule are evaluated on the trigger. */
function ruleForTarget(rule: CompiledRule, target: CompiledTarget): CompiledRule {
  const { preconditions: _, ...rest } = rule;
  const { context, preconditions } = target;
  return { ...rest, context, ...(preconditions === undefined ? {} : { preconditions }) };
}

type Failed = Extract<RuleEffect, { status: 'failed' }>;

function failedAt(effect: Failed, target: CompiledTarget): Failed {
  const { failure } = effect;
  if (failure.stage !== 'preconditions' || failure.rulePath.length > 1) return effect;
  return { status: 'failed', failure: { ...failure, rulePath: [...target.path, 'preconditions'] } };
}

function resultOf(
  { policy, rule }: TargetRun,
  made: Pick<TargetResult, 'ref' | 'selectedBy'> & { before: JsonObject; after: JsonObject },
  effects: readonly RuleEffect[],
): TargetResult {
  const { before } = made;
  const after = equal(before, made.after) ? before : made.after;
  const effect = decidingEffect(effects, before, after);
  return { ...made, after, outcome: outcomeOf(policy, rule, before, effect) };
}

/** A failure, otherwise a change, otherwise the reason for no change. */
function decidingEffect(effects: readonly RuleEffect[], before: JsonObject, after: JsonObject): RuleEffect {
  const failed = effects.find(({ status }) => status === 'failed');
  if (failed !== undefined) return failed;
  const misses = effects.flatMap((effect) => ('misses' in effect ? effect.misses : []));
  const warnings = effects.flatMap((effect) => ('warnings' in effect ? (effect.warnings ?? []) : []));
  if (before !== after) {
    const elements = effects.flatMap((effect) => ('elements' in effect ? (effect.elements ?? []) : []));
    return { status: 'applied', object: after, misses, elements, warnings };
  }
  const skipped = effects.every(({ status }) => status === 'skipped') ? effects[0] : undefined;
  return skipped ?? { status: 'unchanged', misses, warnings };
}

function notRead(
  { policy, rule }: TargetRun,
  target: Pick<CompiledTarget, 'path'>,
  index: number,
  error: unknown,
): TargetResult {
  const isStore = error instanceof StoreError;
  if (!isStore && !(error instanceof EvaluationError) && !(error instanceof BudgetError)) throw error;
  const failure: Failure = {
    code: isStore ? 'KYM_CLUSTER' : error.code,
    stage: 'target',
    rulePath: (isStore ? undefined : error.location) ?? target.path,
    detail: error.message,
  };
  const effect: RuleEffect = { status: 'failed', failure };
  return {
    ref: { apiVersion: '', kind: '', namespace: '', name: '' },
    selectedBy: [index],
    before: undefined,
    after: undefined,
    outcome: outcomeOf(policy, rule, {}, effect),
    storeError: isStore ? error : undefined,
  };
}
