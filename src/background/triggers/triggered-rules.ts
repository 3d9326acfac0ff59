import { requestFor } from '../../admission/resource-request.ts';
import { type ContextSettings, loadedEntriesFor, withContext } from '../../engine/context/context.ts';
import { DataCache } from '../../engine/context/data-cache.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import { RequestFacts, RequestScope } from '../../engine/context/request-scope.ts';
import { ValuesLayer } from '../../engine/context/scope-layers.ts';
import { matchingExceptions } from '../../engine/exceptions.ts';
import { clauseMisses, matchingBlock } from '../../engine/match.ts';
import { MatchSubject, type SubjectSurroundings, statedIdentity } from '../../engine/match-subject.ts';
import type { Failure } from '../../engine/outcome.ts';
import type { Request } from '../../engine/request.ts';
import { at, failureOf, StageError } from '../../engine/stage.ts';
import { type Environment, type Scope, Suspend } from '../../expression/scope.ts';
import { BudgetError } from '../../json/budget.ts';
import type { JsonObject } from '../../json/value.ts';
import type {
  CompiledException,
  CompiledFilter,
  CompiledGenerateRule,
  CompiledPolicy,
  CompiledRuleHead,
} from '../../policy/compiled.ts';
import type { CelHost, CompiledCelProgram } from '../../policy/compiled-cel.ts';
import { type BackgroundRule, backgroundRules } from '../background-rule.ts';
import { createEvaluate, type EvaluationOptions } from '../evaluate.ts';
import { skipMessage, type TriggerOutcome, type TriggerSkip } from './trigger-outcome.ts';
import { conditionReads, triggerReads } from './trigger-reads.ts';

export interface TriggerSettings {
  readonly dataSource: DataSource;
  readonly environment: Environment;
  readonly exceptions?: readonly CompiledException[] | undefined;
  /** The user of the background controller. Its requests only trigger rules that opt in. */
  readonly backgroundUser?: string | undefined;
  readonly evaluation?: EvaluationOptions | undefined;
  /** Evaluate only these rules. */
  readonly only?: ((rule: CompiledRuleHead) => boolean) | undefined;
}

/** Matches a request against the mutate-existing and generate rules of a policy. */
export async function triggerOutcomes(
  request: Request,
  policy: CompiledPolicy,
  settings: TriggerSettings,
): Promise<readonly TriggerOutcome[]> {
  const data = new DataCache(settings.dataSource);
  const { matchRule } = createMatcher(request, policy, settings, data);
  const outcomes: TriggerOutcome[] = [];
  let decided: string | undefined;
  for (const rule of backgroundRules(policy)) {
    if (settings.only?.(rule.rule) === false) continue;
    const outcome: TriggerOutcome =
      decided === undefined
        ? { policy, ...rule, ...(await evaluated(() => matchRule(rule), settings)) }
        : { policy, ...rule, ...skip({ type: 'applyRules', after: decided }) };
    outcomes.push(outcome);
    if (policy.applyRules === 'One' && outcome.status !== 'skipped') decided ??= rule.rule.name;
  }
  return outcomes;
}

/** A stored object as a trigger of a rule that runs again, with the request that triggers it. */
export type RepeatedTrigger = { readonly status: 'passed'; readonly request: Request } | Skipped | Failed;

/**
 * Whether a stored object still triggers a rule. The operation and user of the original request are not known, so clauses about them
 * are ignored. Labels of generated objects name their trigger, and anyone who may write the object may change them, so the trigger
 * is checked before the rule runs for it again.
 */
export async function stillTriggers(
  object: JsonObject,
  policy: CompiledPolicy,
  rule: CompiledGenerateRule,
  settings: TriggerSettings,
): Promise<RepeatedTrigger> {
  let verdict: Skipped | Failed = skip({ type: 'match', clauses: [] });
  for (const operation of conditionReads(rule).operation ? possibleOperations : [null]) {
    const request = requestFor(object, { operation });
    const { matchAgain } = createMatcher(request, policy, settings, new DataCache(settings.dataSource));
    const next = await evaluated(() => matchAgain(rule, object), settings);
    if (next.status === 'passed' || next.status === 'withdrawn') return { status: 'passed', request };
    verdict = next;
  }
  return verdict;
}

/** None, as in the periodic resync, or one of those that create triggers. */
const possibleOperations = [null, 'UPDATE', 'CREATE'] as const;

interface Matcher {
  matchRule(background: BackgroundRule): Verdict;
  /** Ignores clauses about the operation and the user. */
  matchAgain(rule: CompiledGenerateRule, object: JsonObject): Verdict;
}

type Skipped = { readonly status: 'skipped'; readonly reason: TriggerSkip; readonly message: string };
type Failed = { readonly status: 'failed'; readonly failure: Failure; readonly message: string };
type Verdict = { readonly status: 'passed' } | { readonly status: 'withdrawn' } | Skipped | Failed;

async function evaluated(match: () => Verdict, settings: TriggerSettings): Promise<Verdict> {
  try {
    return await createEvaluate(settings.evaluation)(match);
  } catch (error) {
    if (!(error instanceof BudgetError)) throw error;
    const failure = failureOf(error, 'match', ['match']);
    return { status: 'failed', failure, message: `failed to match the trigger: ${failure.detail}` };
  }
}

function skip(reason: TriggerSkip): Skipped {
  return { status: 'skipped', reason, message: skipMessage(reason) };
}

function createMatcher(
  request: Request,
  policy: CompiledPolicy,
  settings: TriggerSettings,
  data: DataCache,
): Matcher {
  const facts = new RequestFacts(request, settings.environment);
  const surroundings: SubjectSurroundings = {
    kind: { ...request.kind, subresource: request.subresource, resource: request.resource },
    operation: request.operation,
    user: request.user,
    stated: statedIdentity(request),
    namespaceLabels(namespace) {
      const answer = data.read({ type: 'namespaceLabels', namespace });
      return answer.found ? (answer.value as JsonObject) : {};
    },
  };
  // Matches objects regardless of user and operation.
  const anyRequest: SubjectSurroundings = { ...surroundings, operation: undefined, user: undefined };

  function matchRule(background: BackgroundRule): Verdict {
    const { rule } = background;
    const { operation } = request;
    const object = request.object ?? request.oldObject;
    if (rule.skipBackgroundRequests && isOwnRequest()) return skip({ type: 'ownRequest' });
    if (operation === undefined && triggerReads(rule).user) return skip({ type: 'userInfo' });
    if (object === null) return skip({ type: 'match', clauses: [] });
    const subject = new MatchSubject(object, surroundings);
    const isCel = background.type === 'mutate' && background.rule.mutation.type === 'cel';
    // The rules of a MutatingPolicy always list operations, and without a request there is none.
    const open = isCel && operation === undefined;
    const head = open ? { ...rule, match: withoutOperations(rule.match) } : rule;
    const miss = operationMiss(rule) ?? matchMiss(head, subject);
    if (miss !== undefined) return isWithdrawn(background) ? { status: 'withdrawn' } : skip(miss);
    if (background.type === 'mutate' && background.rule.mutation.type === 'cel')
      return checkProgram(background.rule.mutation.program, object);
    const exceptions = exceptionsFor(rule, subject);
    if (exceptions.length > 0) return skip({ type: 'exception', exceptions });
    return evaluateConditions(background);
  }

  /** On DELETE, `object` is the old object. */
  function checkProgram(program: CompiledCelProgram, object: JsonObject): Verdict {
    const host = createCelHost(request, data, settings.environment, settings.exceptions ?? [], policy);
    try {
      const miss = program.mismatch(object, host);
      if (miss !== undefined) return skip({ type: 'match', clauses: [miss] });
      const verdict = program.check?.(object, host) ?? { status: 'passed' };
      if (verdict.status === 'skipped') return skip(verdict.reason);
      if (verdict.status === 'passed') return verdict;
      const { path, ...failure } = verdict.failure;
      return failed({ ...failure, stage: 'preconditions', rulePath: path });
    } catch (error) {
      if (error instanceof Suspend || error instanceof BudgetError) throw error;
      return failed(failureOf(error, 'preconditions', ['spec']));
    }
  }

  function failed(failure: Failure): Failed {
    return { status: 'failed', failure, message: `failed to evaluate match conditions: ${failure.detail}` };
  }

  function isOwnRequest(): boolean {
    const { backgroundUser } = settings;
    return backgroundUser !== undefined && request.user?.info.username === backgroundUser;
  }

  /** A rule runs on DELETE and CONNECT only if a match block lists them. */
  function operationMiss({ match }: CompiledRuleHead): TriggerSkip | undefined {
    const { operation } = request;
    if (operation !== 'DELETE' && operation !== 'CONNECT') return undefined;
    const blocks = match.any ?? match.all ?? [];
    return blocks.some(({ operations }) => operations?.has(operation) ?? false)
      ? undefined
      : { type: 'operation', operation };
  }

  function matchMiss(rule: CompiledRuleHead, subject: MatchSubject): TriggerSkip | undefined {
    if (policy.namespace !== undefined && policy.namespace !== subject.namespace) {
      return { type: 'namespace', expected: policy.namespace, actual: subject.namespace };
    }
    if (matchingBlock(rule.match, subject, 'match') === undefined) {
      return { type: 'match', clauses: clauseMisses(rule.match, subject, 'match') };
    }
    const excluding =
      rule.exclude === undefined ? undefined : matchingBlock(rule.exclude, subject, 'exclude');
    return excluding === undefined ? undefined : { type: 'exclude', clause: excluding.path };
  }

  /** Whether the object matched before the request and no longer matches. */
  function isWithdrawn({ type, rule }: BackgroundRule): boolean {
    const { object, oldObject } = request;
    if (type !== 'generate' || !rule.synchronize || oldObject === null) return false;
    return isTrigger(rule, oldObject) && (object === null || !isTrigger(rule, object));
  }

  function isTrigger(rule: CompiledRuleHead, candidate: JsonObject): boolean {
    const head = { ...rule, match: withoutOperations(rule.match) };
    return matchMiss(head, new MatchSubject(candidate, anyRequest)) === undefined;
  }

  function exceptionsFor(rule: CompiledRuleHead, subject: MatchSubject): readonly string[] {
    const { exceptions = [] } = settings;
    if (exceptions.length === 0) return [];
    return matchingExceptions(exceptions, policy, rule, subject, new RequestScope(facts, request.object));
  }

  function evaluateConditions(background: BackgroundRule): Verdict {
    const { type, rule } = background;
    const { preconditions } = rule;
    if (preconditions === undefined) return { status: 'passed' };
    try {
      const verdict = evaluate(request.object);
      if (verdict.passed) return { status: 'passed' };
      const wasMet =
        type === 'generate' &&
        rule.synchronize &&
        request.oldObject !== null &&
        evaluate(request.oldObject).passed;
      if (wasMet) return { status: 'withdrawn' };
      return skip({ type: 'preconditions', conditions: verdict.evaluated });
    } catch (error) {
      if (!(error instanceof StageError)) throw error;
      const message = `failed to evaluate preconditions: ${error.failure.detail}`;
      return { status: 'failed', failure: error.failure, message };
    }

    function evaluate(object: JsonObject | null) {
      const scope = ruleScope(policy, rule, new RequestScope(facts, object), request, data);
      const conditions = preconditions;
      if (conditions === undefined) return { passed: true, evaluated: [] };
      return at('preconditions', ['preconditions'], () => conditions.evaluate(scope));
    }
  }

  function matchAgain(rule: CompiledGenerateRule, object: JsonObject): Verdict {
    if (!isTrigger(rule, object)) return skip({ type: 'match', clauses: [] });
    const exceptions = exceptionsFor(rule, new MatchSubject(object, anyRequest));
    if (exceptions.length > 0) return skip({ type: 'exception', exceptions });
    // Conditions about the original request cannot be evaluated again.
    return conditionReads(rule).original
      ? { status: 'passed' }
      : evaluateConditions({ type: 'generate', rule });
  }

  return { matchRule, matchAgain };
}

function withoutOperations({ any, all }: CompiledFilter): CompiledFilter {
  const open = (blocks: NonNullable<CompiledFilter['any']>) =>
    blocks.map(({ operations: _, ...block }) => block);
  return any === undefined ? { all: open(all ?? []) } : { any: open(any) };
}

/** What the expressions of a MutatingPolicy may use in the background. */
export function createCelHost(
  request: Request,
  data: DataCache,
  environment: Environment,
  exceptions: readonly CompiledException[],
  { kind, name }: CompiledPolicy,
): CelHost {
  return {
    request,
    environment,
    exceptions: exceptions.flatMap(({ cel }) =>
      cel?.policies.some((policy) => policy.kind === kind && policy.name === name) === true ? [cel] : [],
    ),
    explain: false,
    read: (query) => data.read(query),
  };
}

export function contextSettings(
  policy: CompiledPolicy,
  rule: CompiledRuleHead,
  { bindings, elementBindings }: Request,
  data: DataCache,
): ContextSettings {
  const name = rule.autogenOf ?? rule.name;
  return {
    data,
    policyNamespace: policy.namespace,
    bindings: bindings?.(policy.key, name),
    elementBindings:
      elementBindings === undefined ? undefined : (index) => elementBindings(policy.key, name, index),
  };
}

/** The scope of the request with the rule context. Each entry is loaded once, on first use. */
export function ruleScope(
  policy: CompiledPolicy,
  rule: CompiledRuleHead,
  scope: Scope,
  request: Request,
  data: DataCache,
): Scope {
  const settings = contextSettings(policy, rule, request, data);
  const bound = settings.bindings === undefined ? scope : new ValuesLayer(scope, settings.bindings);
  return withContext(bound, rule.context, settings, loadedEntriesFor(rule.context));
}
