import { type Environment, type Observer, Suspend } from '../expression/scope.ts';
import { Budget, type BudgetLimits, generousLimits, withBudget } from '../json/budget.ts';
import { diff, diffText } from '../json/diff/diff.ts';
import { labelsOf } from '../json/metadata.ts';
import type { PatchOperation } from '../json/patch/operation.ts';
import type { JsonObject } from '../json/value.ts';
import type { CompiledPolicy, CompiledRule } from '../policy/compiled.ts';
import type { CelHost, CompiledCelProgram } from '../policy/compiled-cel.ts';
import type { KindKey } from '../policy/kind-selector.ts';
import { couldApply } from '../policy/registry/could-apply.ts';
import type { IndexedSubject } from '../policy/registry/literal-clauses.ts';
import type { Candidate, PolicySnapshot } from '../policy/registry/registry.ts';
import { runCelRule } from './cel-rule.ts';
import type { ContextSettings } from './context/context.ts';
import type { ContextBudget } from './context/context-size.ts';
import { DataCache } from './context/data-cache.ts';
import type { DataSource } from './context/data-source.ts';
import { RequestFacts, RequestScope } from './context/request-scope.ts';
import { matchingExceptions } from './exceptions.ts';
import { clauseMisses, isNamespace, matchingBlock, namespaceForMatch, unlistedOperation } from './match.ts';
import { MatchSubject, type SubjectSurroundings, statedIdentity } from './match-subject.ts';
import type { Failure, Outcome, Result, SkipReason } from './outcome.ts';
import { outcomeOf, skipped } from './outcomes.ts';
import type { Request } from './request.ts';
import { type RuleSetting, runRule } from './rule.ts';
import type { RuleGuard } from './rule-guard.ts';
import { traceRule } from './rule-trace.ts';
import { failureOf } from './stage.ts';

export interface EvaluationSettings {
  readonly dataSource: DataSource;
  readonly environment: Environment;
  readonly explain: boolean;
  /** Limit for the total size of a request's context entries in bytes; 0 or absent for no limit. */
  readonly maxContextSize?: number | undefined;
  readonly clock?: (() => number) | undefined;
  /** For each policy. */
  readonly limits?: BudgetLimits | undefined;
  readonly guard?: RuleGuard | undefined;
}

const noLabels: JsonObject = {};
const noExceptions = (): readonly string[] => [];

/**
 * Evaluates the policies for one request. It suspends where data has to be fetched; rules are pure, so an
 * interrupted rule runs again from its start.
 */
export class Evaluation {
  readonly #request: Request;
  readonly #snapshot: PolicySnapshot;
  readonly #explain: boolean;
  readonly #facts: RequestFacts;
  readonly #data: DataCache;
  readonly #surroundings: SubjectSurroundings;
  readonly #start: JsonObject | null;
  readonly #outcomes: Outcome[] = [];
  readonly #clock: (() => number) | undefined;
  readonly #guard: RuleGuard | undefined;
  readonly #durations: number[] = [];
  readonly #limits: BudgetLimits;
  readonly #failedPolicies: CompiledPolicy[] = [];

  #object: JsonObject | null;
  /** Found when the first policy runs: labels of a Namespace may have to be fetched. */
  #candidates: readonly Candidate[] | undefined;
  /** The subject that the candidates were found by. */
  #foundBy: MatchSubject | undefined;
  #policyIndex = 0;
  /** Rules of MutatingAdmissionPolicies that run once more after the others of their kind. */
  #reinvocations: Candidate[] = [];
  #isReinvoking = false;
  /** The object before the first MutatingAdmissionPolicy. */
  #admitted: JsonObject | undefined;
  #ruleIndex = 0;
  /** The object before the current policy: restored when one of its rules fails. */
  #policyStart: JsonObject | null;
  #policyFailed = false;
  /** Whether the failure of the current policy undoes its changes. */
  #undoes = false;
  /** When the current rule first started, not when it was resumed. */
  #ruleStart: number | undefined;
  /** The size of the context entries that complete rules have loaded. */
  #contextSize = 0;
  readonly #contextBudget: ContextBudget | undefined;
  #namespaceBudget: Budget | undefined;
  readonly #policyBudget: Budget;
  /** The ClusterPolicy whose budget this is. */
  #spendingPolicy: CompiledPolicy | undefined;
  #host: CelHost | undefined;
  #subject: MatchSubject | undefined;
  #subjectObject: JsonObject | undefined;
  /** Of the last rule. Most rules have the same. */
  #context: ContextSettings | undefined;
  #setting: RuleSetting | undefined;

  constructor(request: Request, snapshot: PolicySnapshot, settings: EvaluationSettings) {
    this.#request = request;
    this.#snapshot = snapshot;
    this.#explain = settings.explain;
    this.#clock = settings.clock;
    this.#limits = settings.limits ?? generousLimits;
    this.#guard = settings.guard;
    this.#policyBudget = new Budget(this.#limits, settings.clock);
    const { maxContextSize = 0 } = settings;
    this.#contextBudget = maxContextSize > 0 ? { used: 0, limit: maxContextSize } : undefined;
    this.#facts = new RequestFacts(request, settings.environment);
    this.#data = new DataCache(settings.dataSource);
    this.#surroundings = {
      kind: kindKeyOf(request),
      operation: request.operation,
      user: request.user,
      stated: statedIdentity(request),
      namespaceLabels: (namespace) => this.#namespaceLabels(namespace),
    };
    this.#start = request.object;
    this.#object = this.#start;
    this.#policyStart = this.#start;
  }

  get isDone(): boolean {
    if (this.#candidates === undefined) return false;
    return this.#policyIndex >= this.#candidates.length && this.#reinvocations.length === 0;
  }

  /** Runs the next policy. Returns the reason to wait if it needs data; then it must be called again. */
  runPolicy(): Suspend | undefined {
    try {
      this.#candidates ??= this.#findCandidates();
      const next = this.#candidates[this.#policyIndex];
      const again = next?.policy.kind === 'MutatingAdmissionPolicy' ? undefined : this.#reinvocations[0];
      const candidate = again ?? next;
      if (candidate === undefined) return undefined;
      this.#isReinvoking = again !== undefined;
      const first = this.#outcomes.length;
      this.#runRules(candidate);
      if (again !== undefined) {
        this.#reinvocations.shift();
        return undefined;
      }
      this.#policyIndex++;
      this.#refreshCandidates(candidate);
      this.#planReinvocation(candidate, first);
      return undefined;
    } catch (error) {
      if (error instanceof Suspend) return error;
      throw error;
    } finally {
      this.#guard?.leave();
    }
  }

  result(): Result {
    return new EvaluationResult(
      this.#start,
      this.#object,
      this.#outcomes,
      this.#durations,
      this.#failedPolicies,
    );
  }

  #runRules({ policy, rules, matched }: Candidate): void {
    while (this.#ruleIndex < rules.length) {
      const rule = rules[this.#ruleIndex];
      if (rule !== undefined) this.#runRule(policy, rule, matched?.has(rule) ?? false);
      this.#ruleIndex++;
    }
    if (this.#policyFailed) {
      if (this.#undoes) this.#object = this.#policyStart;
      this.#failedPolicies.push(policy);
    }
    this.#policyStart = this.#object;
    this.#policyFailed = false;
    this.#undoes = false;
    this.#ruleIndex = 0;
  }

  /** The API server runs policies with `reinvocationPolicy: IfNeeded` once more after any mutation, if their conditions held before. */
  #planReinvocation({ policy, position }: Candidate, first: number): void {
    if (policy.kind !== 'MutatingAdmissionPolicy') return;
    const rules = this.#outcomes
      .slice(first)
      .filter(({ rule, status }) => isReinvocable(rule) && (status === 'applied' || status === 'unchanged'))
      .map(({ rule }) => rule);
    if (rules.length > 0) this.#reinvocations.push({ policy, position, rules });
  }

  #findCandidates(): readonly Candidate[] {
    const { operation } = this.#request;
    if (this.#explain || operation === undefined) return allRules(this.#snapshot);
    const object = this.#matchedObject();
    if (object === null) return [];
    const subject = this.#subjectFor(object);
    const { group, version, kind, subresource, resource } = this.#surroundings.kind;
    // Without a spread: V8 adds a member to a copy of an object in its slow path.
    const found = this.#snapshot.candidates({
      operation,
      group,
      version,
      kind,
      subresource,
      resource,
      subject: this.#indexedSubject(subject),
    });
    this.#foundBy = subject;
    return found;
  }

  #indexedSubject(subject: MatchSubject): IndexedSubject {
    const { name, generateName, labels, annotations, user } = subject;
    return {
      name,
      generateName,
      namespace: namespaceForMatch(subject),
      labels,
      annotations,
      user,
      namespaceLabels: () => this.#labelsForIndex(subject),
      labelsOfVersions: () => [
        labels,
        ...[this.#admitted, this.#request.original, this.#request.oldObject].map((object) =>
          labelsOf(object ?? {}),
        ),
      ],
      request: this.#request,
    };
  }

  /** Selectors of namespaces also match objects without one, and CEL policies compare Namespaces with their own labels. */
  #labelsForIndex(subject: MatchSubject): JsonObject | undefined {
    if (isNamespace(subject) || subject.namespace !== this.#request.namespace) return undefined;
    return subject.namespace === '' ? undefined : subject.namespaceLabels();
  }

  /** On DELETE the old object decides what matches; `couldApply` has left out the rules that need a new one. */
  #matchedObject(): JsonObject | null {
    const { operation, oldObject } = this.#request;
    return this.#object ?? (operation === 'DELETE' ? oldObject : null);
  }

  /** A policy may change labels and annotations, and so select other policies after it. */
  #refreshCandidates({ position }: Candidate): void {
    const before = this.#foundBy;
    if (before === undefined || this.#object === null) return;
    const subject = this.#subjectFor(this.#object);
    const isSame =
      subject.name === before.name &&
      (subject.labels === before.labels || !this.#snapshot.selectsBy('labels')) &&
      (subject.annotations === before.annotations || !this.#snapshot.selectsBy('annotations'));
    if (isSame) return;
    const found = this.#findCandidates();
    if (found === this.#candidates) return;
    this.#candidates = found;
    const next = found.findIndex((candidate) => candidate.position > position);
    this.#policyIndex = next === -1 ? found.length : next;
  }

  /** @param isMatched whether it is known that the match block holds. */
  #runRule(policy: CompiledPolicy, rule: CompiledRule, isMatched: boolean): void {
    const object = this.#matchedObject();
    if (object === null) return;
    this.#ruleStart ??= this.#clock?.();
    const refusal = this.#guard?.enter(policy, rule);
    if (refusal !== undefined) {
      this.#fail(policy, rule, object, {
        code: 'KYM_RULE_STUCK',
        stage: 'match',
        rulePath: ['match'],
        detail: refusal,
      });
      return;
    }
    withBudget(this.#budgetOf(policy), () => this.#evaluateRule(policy, rule, object, isMatched));
  }

  #evaluateRule(policy: CompiledPolicy, rule: CompiledRule, object: JsonObject, isMatched: boolean): void {
    let reason: SkipReason | undefined;
    try {
      reason = this.#reasonToSkip(policy, rule, object, isMatched);
    } catch (error) {
      if (error instanceof Suspend) throw error;
      this.#fail(policy, rule, object, failureOf(error, 'match', ['match']));
      return;
    }
    if (reason !== undefined) {
      if (this.#explain) this.#record(skipped(policy, rule, reason));
      return;
    }
    if (rule.mutation.type === 'cel') {
      this.#runCel(policy, rule, rule.mutation.program);
      return;
    }
    const traced = this.#explain ? traceRule() : undefined;
    const budget = this.#contextBudget;
    // Data counts only when a rule completes: an interrupted rule runs again.
    if (budget !== undefined) budget.used = this.#contextSize;
    const effect = runRule(rule, object, this.#settingFor(policy, rule, traced?.observer));
    if (budget !== undefined) this.#contextSize = budget.used;
    if (effect.status === 'applied') this.#object = effect.object;
    if (effect.status === 'failed') {
      this.#policyFailed = true;
      this.#undoes = true;
    }
    this.#record(outcomeOf(policy, rule, object, effect, traced?.trace));
  }

  #runCel(policy: CompiledPolicy, rule: CompiledRule, program: CompiledCelProgram): void {
    const object = this.#object;
    const { effect, traces } = runCelRule(program, object, this.#celHost(policy));
    if (effect.status === 'applied') this.#object = effect.object;
    if (effect.status === 'failed') {
      this.#policyFailed = true;
      if (effect.kept === undefined) this.#undoes = true;
      else this.#object = effect.kept;
    }
    const trace = this.#explain ? { variables: [], anchors: [], expressions: traces } : undefined;
    if (this.#isReinvoking && effect.status !== 'applied' && effect.status !== 'failed') return;
    this.#record(outcomeOf(policy, rule, object ?? {}, effect, trace));
  }

  /** The same for all policies with the same exceptions. */
  #celHost(policy: CompiledPolicy): CelHost {
    const exceptions = this.#snapshot.celExceptionsFor(policy);
    if (this.#host?.exceptions === exceptions) return this.#host;
    this.#host = {
      request: this.#request,
      environment: this.#facts.environment,
      exceptions,
      explain: this.#explain,
      read: (query) => this.#data.read(query),
    };
    return this.#host;
  }

  #fail(policy: CompiledPolicy, rule: CompiledRule, object: JsonObject, failure: Failure): void {
    this.#policyFailed = true;
    this.#undoes = true;
    this.#record(outcomeOf(policy, rule, object, { status: 'failed', failure }));
  }

  #record(outcome: Outcome): void {
    this.#outcomes.push(outcome);
    if (this.#clock === undefined) return;
    const now = this.#clock();
    this.#durations.push(now - (this.#ruleStart ?? now));
    // Reuse this reading as the start of the next rule: clock calls are not free.
    this.#ruleStart = now;
  }

  /**
   * Each ClusterPolicy has a budget of its own. The Policies of a namespace share one, so that a tenant cannot multiply
   * it, nor spend that of a ClusterPolicy.
   */
  #budgetOf(policy: CompiledPolicy): Budget {
    if (policy.namespace !== undefined) {
      this.#namespaceBudget ??= new Budget(this.#limits, this.#clock);
      return this.#namespaceBudget;
    }
    if (this.#spendingPolicy !== policy) {
      this.#spendingPolicy = policy;
      this.#policyBudget.restart();
    }
    return this.#policyBudget;
  }

  #settingFor(policy: CompiledPolicy, rule: CompiledRule, observer: Observer | undefined): RuleSetting {
    const context = this.#contextFor(policy, rule);
    const isUsual = observer === undefined && this.#snapshot.exceptionsFor(policy.key).length === 0;
    if (!isUsual) return this.#createSetting(context, policy, rule, observer);
    if (this.#setting?.context !== context) this.#setting = this.#createSetting(context, policy, rule);
    return this.#setting;
  }

  #createSetting(
    context: ContextSettings,
    policy: CompiledPolicy,
    rule: CompiledRule,
    observer?: Observer,
  ): RuleSetting {
    const facts = this.#facts;
    const environment = observer === undefined ? facts.environment : { ...facts.environment, observer };
    const hasExceptions = this.#snapshot.exceptionsFor(policy.key).length > 0;
    return {
      context,
      explain: this.#explain,
      scopeFor: (current) => new RequestScope(facts, current, environment),
      exceptions: hasExceptions ? () => this.#applyingExceptions(policy, rule) : noExceptions,
    };
  }

  #contextFor(policy: CompiledPolicy, rule: CompiledRule): ContextSettings {
    const { bindings, elementBindings } = this.#request;
    const last = this.#context;
    const isUsual = bindings === undefined && elementBindings === undefined;
    if (isUsual && last !== undefined && last.policyNamespace === policy.namespace) return last;
    this.#context = this.#createContext(policy, rule.autogenOf ?? rule.name);
    return this.#context;
  }

  #createContext(policy: CompiledPolicy, ruleName: string): ContextSettings {
    const { bindings, elementBindings } = this.#request;
    return {
      data: this.#data,
      policyNamespace: policy.namespace,
      bindings: bindings?.(policy.key, ruleName),
      elementBindings:
        elementBindings === undefined ? undefined : (index) => elementBindings(policy.key, ruleName, index),
      budget: this.#contextBudget,
    };
  }

  /** Why a rule does not run at all. These reasons produce an outcome only when explaining. */
  #reasonToSkip(
    policy: CompiledPolicy,
    rule: CompiledRule,
    object: JsonObject,
    isMatched: boolean,
  ): SkipReason | undefined {
    const applied = policy.applyRules === 'One' ? this.#appliedRule(policy) : undefined;
    if (applied !== undefined) return { type: 'applyRules', after: applied };
    const subject = this.#subjectFor(object);
    if (policy.namespace !== undefined && policy.namespace !== subject.namespace) {
      return { type: 'namespace', expected: policy.namespace, actual: subject.namespace };
    }
    const mismatch = isMatched ? undefined : this.#mismatch(rule, subject);
    if (mismatch !== undefined) return mismatch;
    const excluding =
      rule.exclude === undefined ? undefined : matchingBlock(rule.exclude, subject, 'exclude');
    if (excluding !== undefined) return { type: 'exclude', clause: excluding.path };
    if (rule.targets !== undefined) return { type: 'mutateExisting' };
    if (rule.mutation.type === 'cel') {
      const miss = rule.mutation.program.mismatch(this.#selected(policy, object), this.#celHost(policy));
      if (miss !== undefined) return { type: 'match', clauses: [miss] };
    }
    return undefined;
  }

  /** The API server finds out which policies and bindings match before the first of them changes the object. */
  #selected(policy: CompiledPolicy, object: JsonObject): JsonObject {
    if (policy.kind !== 'MutatingAdmissionPolicy' || this.#isReinvoking) return object;
    this.#admitted ??= this.#request.original ?? object;
    return this.#admitted;
  }

  #mismatch(rule: CompiledRule, subject: MatchSubject): SkipReason | undefined {
    const matching = matchingBlock(rule.match, subject, 'match');
    if (matching === undefined) {
      return { type: 'match', clauses: this.#explain ? clauseMisses(rule.match, subject, 'match') : [] };
    }
    const { operation } = subject;
    if (this.#explain && operation !== undefined && !couldApply(rule, { ...subject.kind, operation })) {
      return { type: 'match', clauses: [unlistedOperation(matching, operation)] };
    }
    return undefined;
  }

  #appliedRule(policy: CompiledPolicy): string | undefined {
    return this.#outcomes.find((outcome) => outcome.policy === policy && outcome.status === 'applied')?.rule
      .name;
  }

  #applyingExceptions(policy: CompiledPolicy, rule: CompiledRule): readonly string[] {
    const object = this.#policyStart;
    if (object === null) return [];
    const subject = new MatchSubject(object, this.#surroundings);
    const key = { ...this.#surroundings.kind, subject: this.#indexedSubject(subject) };
    const exceptions = this.#snapshot.exceptionsFor(policy.key, key);
    const scope = new RequestScope(this.#facts, object);
    return matchingExceptions(exceptions, policy, rule, subject, scope);
  }

  #subjectFor(object: JsonObject): MatchSubject {
    if (this.#subject === undefined || this.#subjectObject !== object) {
      this.#subject = new MatchSubject(object, this.#surroundings);
      this.#subjectObject = object;
    }
    return this.#subject;
  }

  #namespaceLabels(namespace: string): JsonObject {
    const answer = this.#data.read({ type: 'namespaceLabels', namespace });
    return answer.found ? (answer.value as JsonObject) : noLabels;
  }
}

/** The patch is computed lazily: full-object output never needs it. */
class EvaluationResult implements Result {
  readonly object: JsonObject | null;
  readonly outcomes: readonly Outcome[];
  readonly durations: readonly number[];
  readonly failedPolicies: readonly CompiledPolicy[];
  readonly #before: JsonObject | null;
  #patch: readonly PatchOperation[] | undefined;

  constructor(
    before: JsonObject | null,
    object: JsonObject | null,
    outcomes: readonly Outcome[],
    durations: readonly number[],
    failedPolicies: readonly CompiledPolicy[],
  ) {
    this.object = object;
    this.outcomes = outcomes;
    this.durations = durations;
    this.failedPolicies = failedPolicies;
    this.#before = before;
  }

  get patch(): readonly PatchOperation[] {
    const patch = this.#patch ?? (this.#before === this.object ? [] : diff(this.#before, this.object));
    this.#patch = patch;
    return patch;
  }

  get patchText(): string {
    return this.#before === this.object ? '[]' : diffText(this.#before, this.object);
  }
}

function allRules(snapshot: PolicySnapshot): readonly Candidate[] {
  return snapshot.policies.map((policy, position) => ({ policy, position, rules: policy.rules }));
}

function kindKeyOf({ kind, subresource, resource }: Request): KindKey {
  return { group: kind.group, version: kind.version, kind: kind.kind, subresource, resource };
}

function isReinvocable({ mutation }: CompiledRule): boolean {
  return mutation.type === 'cel' && mutation.program.admission?.reinvocable === true;
}
