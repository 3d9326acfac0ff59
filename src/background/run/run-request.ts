import { requestFor } from '../../admission/resource-request.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import type { Request } from '../../engine/request.ts';
import type { Environment } from '../../expression/scope.ts';
import type { JsonObject } from '../../json/value.ts';
import type {
  CompiledException,
  CompiledPolicy,
  CompiledRule,
  CompiledRuleHead,
} from '../../policy/compiled.ts';
import { backgroundRules } from '../background-rule.ts';
import type { Clock } from '../clock.ts';
import type { EvaluationOptions } from '../evaluate.ts';
import { refOf, refTitle } from '../object-identity.ts';
import { type ObjectStore, StoreError } from '../ports.ts';
import type { Breaker } from '../queue/breaker.ts';
import type { RunResult } from '../queue/controller.ts';
import type { UpdateRequest } from '../queue/update-request.ts';
import { createWaits } from '../queue/wait.ts';
import { requestOfTarget } from '../targets/cel-targets.ts';
import { createListCache, type ListCache } from '../targets/list-cache.ts';
import { runTargets, type TargetFailure, type TargetsResult } from '../targets/run-targets.ts';
import type { TargetWrite } from '../targets/write-target.ts';
import { findTrigger } from '../triggers/find-trigger.ts';
import { listTriggers } from '../triggers/list-triggers.ts';
import { type KindOfResource, requestOfUpdate } from '../triggers/request-of.ts';
import { triggerFailureText } from '../triggers/trigger-outcome.ts';
import { triggerOutcomes } from '../triggers/triggered-rules.ts';

export interface RunnerOptions {
  readonly store: ObjectStore;
  readonly dataSource: DataSource;
  readonly environment: Environment;
  readonly evaluation?: EvaluationOptions | undefined;
  readonly clock: Clock;
  readonly breaker: Breaker;
  policyOf(key: string): CompiledPolicy | undefined;
  exceptionsOf(policy: CompiledPolicy): readonly CompiledException[];
  readonly kindOfResource: KindOfResource;
  /** Runs requests of generate rules. */
  generate(request: UpdateRequest, isActive: () => boolean): Promise<RunResult>;
  /** How long to wait until the API server has stored the trigger. */
  readonly triggerWaitMs?: number | undefined;
  onWrite?(request: UpdateRequest, write: TargetWrite): void;
  /** Names the permissions that the background controller lacks. */
  adviceFor?(policy: CompiledPolicy): Promise<string | undefined>;
}

export type Runner = (request: UpdateRequest, isActive: () => boolean) => Promise<RunResult>;

const defaultTriggerWaitMs = 10_000;
/** A target may be created together with its trigger: wait for it this share of the time. */
const targetWaitShare = 0.2;
const maxShownFailures = 3;

/** Creates the function that runs an UpdateRequest. */
export function createRunner(options: RunnerOptions): Runner {
  const { store, clock, triggerWaitMs = defaultTriggerWaitMs } = options;
  const waits = createWaits(clock);

  async function runMutate(request: UpdateRequest, isActive: () => boolean): Promise<RunResult> {
    const policy = options.policyOf(request.policy);
    const found = policy === undefined ? [] : backgroundRules(policy);
    const rule = found.find(({ type, rule: { name } }) => type === 'mutate' && name === request.rule)?.rule as
      | CompiledRule
      | undefined;
    if (policy === undefined || rule === undefined) return missingRule(request, policy);
    if (request.trigger.name === '') return runSweep(request, policy, rule, isActive);
    if (request.tooLarge !== undefined) return tooLarge(request.tooLarge);
    const trigger = await findTrigger(request, store);
    if (trigger.status === 'wait') return waits.wait(request, trigger.message, triggerWaitMs);
    if (trigger.status === 'none') return { state: 'Skip', message: trigger.message };
    const admissionRequest = requestOfUpdate(request, trigger.object, options.kindOfResource);
    const passed = await passes(admissionRequest, policy, rule, options);
    if (passed !== true) return passed;
    const result = await act(request, policy, rule, admissionRequest, isActive);
    if (result.missing.length > 0 && didNothing(result)) {
      const message = result.missing.slice(0, maxShownFailures).join('; ');
      return waits.wait(request, message, triggerWaitMs * targetWaitShare);
    }
    waits.end(request);
    return verdict(result, policy);
  }

  function act(
    request: UpdateRequest,
    policy: CompiledPolicy,
    rule: CompiledRule,
    admissionRequest: Request,
    isActive: () => boolean,
    reader?: ListCache,
  ): Promise<TargetsResult> {
    return runTargets({
      policy,
      rule,
      request: admissionRequest,
      store,
      reader: reader ?? store,
      dataSource: options.dataSource,
      environment: options.environment,
      evaluation: options.evaluation,
      exceptions: options.exceptionsOf(policy),
      eachTarget: isWithoutTrigger(request, rule),
      clock,
      breaker: options.breaker,
      chain: reader === undefined ? options.breaker.chainOf(request) : [],
      isActive,
      onWrite(write) {
        if (write.stored !== undefined && write.result.ref.subresource === undefined)
          reader?.wrote(write.stored);
        options.onWrite?.(request, write);
      },
    });
  }

  /** Runs the rule for every object that matches it, without operation and user. */
  async function runSweep(
    request: UpdateRequest,
    policy: CompiledPolicy,
    rule: CompiledRule,
    isActive: () => boolean,
  ): Promise<RunResult> {
    const reader = createListCache(store);
    if (isWithoutTrigger(request, rule)) {
      // Targets have requests of their own.
      return verdict(await act(request, policy, rule, requestFor({}), isActive, reader), policy);
    }
    const results: TargetsResult[] = [];
    let triggers = 0;
    for (const object of await listTriggers(reader, policy, rule)) {
      if (!isActive()) break;
      const admissionRequest = requestOfSweep(object, rule);
      const passed = await passes(admissionRequest, policy, rule, options);
      if (passed !== true) {
        if (passed.state === 'Failed') results.push(failedTrigger(refTitle(refOf(object)), passed.message));
        continue;
      }
      triggers += 1;
      results.push(await act(request, policy, rule, admissionRequest, isActive, reader));
    }
    if (triggers === 0 && results.length === 0) return { state: 'Skip', message: 'no trigger found' };
    const missing = results.flatMap((result) => result.missing);
    const together = { ...sum(results), missing };
    return verdict(together, policy);
  }

  async function verdict(result: TargetsResult, policy: CompiledPolicy): Promise<RunResult> {
    const { written, unchanged, skipped, missing, failures, stopped } = result;
    if (stopped !== undefined) return { state: 'Failed', message: stopped, permanent: true };
    if (failures.length > 0) {
      const isForbidden = failures.some(({ reason }) => reason === 'forbidden');
      const advice = isForbidden ? await options.adviceFor?.(policy) : undefined;
      const text = failureMessage(failures);
      // Another attempt would cost as much.
      const permanent = failures.every(({ code }) => code === 'KYM_BUDGET_EXHAUSTED') || undefined;
      return { state: 'Failed', message: advice === undefined ? text : `${text}\n${advice}`, permanent };
    }
    const notes = missing.slice(0, maxShownFailures);
    if (written + unchanged === 0 && (skipped > 0 || missing.length > 0))
      return {
        state: 'Skip',
        message: [...(skipped > 0 ? [`${skipped} skipped`] : []), ...notes].join('; '),
      };
    return {
      state: 'Completed',
      message: [`${written} changed, ${unchanged + skipped} unchanged`, ...notes].join('; '),
    };
  }

  return async (request, isActive) => {
    try {
      return await (request.type === 'generate'
        ? options.generate(request, isActive)
        : runMutate(request, isActive));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return { state: 'Failed', message: error.message };
    }
  };
}

/** True if the rule applies to the request; otherwise the result of the UpdateRequest. */
export async function passes(
  admissionRequest: Request,
  policy: CompiledPolicy,
  rule: CompiledRuleHead,
  options: Pick<RunnerOptions, 'dataSource' | 'environment' | 'evaluation' | 'exceptionsOf'>,
): Promise<RunResult | true> {
  const [outcome] = await triggerOutcomes(admissionRequest, policy, {
    dataSource: options.dataSource,
    environment: options.environment,
    evaluation: options.evaluation,
    exceptions: options.exceptionsOf(policy),
    only: (each) => each === rule,
  });
  if (outcome === undefined || outcome.status === 'passed') return true;
  if (outcome.status === 'failed') return { state: 'Failed', message: triggerFailureText(outcome) };
  return { state: 'Skip', message: 'message' in outcome ? outcome.message : 'the trigger no longer matches' };
}

export function missingRule({ policy, rule }: UpdateRequest, known: CompiledPolicy | undefined): RunResult {
  const message =
    known === undefined ? `policy ${policy} does not exist` : `policy ${policy} has no rule ${rule}`;
  return { state: 'Skip', message };
}

export function tooLarge(bytes: number): RunResult {
  const message = `the parts of the request that the rule reads have ${bytes} bytes, more than an UpdateRequest can store`;
  return { state: 'Failed', message, permanent: true };
}

/** A sweep of a MutatingPolicy reads its targets without looking for triggers, unless an expression needs them. */
function isWithoutTrigger({ trigger }: UpdateRequest, { mutation }: CompiledRule): boolean {
  return trigger.name === '' && mutation.type === 'cel' && mutation.program.targets?.find === undefined;
}

function requestOfSweep(object: JsonObject, { mutation }: CompiledRule): Request {
  return mutation.type === 'cel' ? requestOfTarget(object) : requestFor(object, { operation: null });
}

function didNothing({ written, unchanged, skipped, failures }: TargetsResult): boolean {
  return written + unchanged + skipped + failures.length === 0;
}

function failedTrigger(title: string, message: string): TargetsResult {
  return {
    written: 0,
    unchanged: 0,
    skipped: 0,
    missing: [],
    failures: [{ message: `${title}: ${message}` }],
  };
}

function sum(results: readonly TargetsResult[]): Omit<TargetsResult, 'missing'> {
  const total = (field: 'written' | 'unchanged' | 'skipped') =>
    results.reduce((count, result) => count + result[field], 0);
  const stopped = results.find((result) => result.stopped !== undefined)?.stopped;
  return {
    written: total('written'),
    unchanged: total('unchanged'),
    skipped: total('skipped'),
    failures: results.flatMap(({ failures }) => failures),
    stopped,
  };
}

function failureMessage(failures: readonly TargetFailure[]): string {
  const messages = [...new Set(failures.map(({ message }) => message))];
  const more = messages.length - maxShownFailures;
  return [...messages.slice(0, maxShownFailures), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
