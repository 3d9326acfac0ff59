import { requestFor } from '../../admission/resource-request.ts';
import type { Request } from '../../engine/request.ts';
import { readObject, readText } from '../../json/read-field.ts';
import { isArray, type JsonObject, member } from '../../json/value.ts';
import type { CompiledGenerateRule, CompiledPolicy } from '../../policy/compiled.ts';
import { type CleanUp, cleanUpRule, cleanUpSource, cleanUpTrigger } from '../generate/cleanup.ts';
import { downstreamOfRule } from '../generate/downstream.ts';
import { type GeneratedObject, runGenerate } from '../generate/generate.ts';
import { originOf } from '../generate/labels.ts';
import { refKey } from '../object-identity.ts';
import type { ObjectRef } from '../ports.ts';
import type { RunResult } from '../queue/controller.ts';
import type { UpdateRequest } from '../queue/update-request.ts';
import { createWaits } from '../queue/wait.ts';
import { isInScope } from '../scope.ts';
import { findTrigger, isBeingDeleted } from '../triggers/find-trigger.ts';
import { listTriggers } from '../triggers/list-triggers.ts';
import { requestOfUpdate } from '../triggers/request-of.ts';
import { triggerFailureText } from '../triggers/trigger-outcome.ts';
import { stillTriggers } from '../triggers/triggered-rules.ts';
import { missingRule, passes, type RunnerOptions, tooLarge } from './run-request.ts';

export interface GenerateRunnerOptions extends Omit<RunnerOptions, 'generate' | 'onWrite'> {
  onGenerated?(request: UpdateRequest, made: GeneratedObject): void;
}

const defaultTriggerWaitMs = 10_000;
const maxShown = 3;

/** Creates the function that runs an UpdateRequest of a generate rule. */
export function createGenerateRunner(
  options: GenerateRunnerOptions,
): (request: UpdateRequest, isActive: () => boolean) => Promise<RunResult> {
  const { store, clock, triggerWaitMs = defaultTriggerWaitMs } = options;
  const waits = createWaits(clock);

  return async (request, isActive) => {
    const cleaning = { store, isActive };
    if (request.cause === 'policyDelete')
      return resultOf(request, await cleanUpRule({ ...formerRule(request), ...cleaning }));
    const policy = options.policyOf(request.policy);
    const rule = policy?.generateRules.find(({ name }) => name === request.rule);
    if (policy === undefined || rule === undefined) return missingRule(request, policy);
    const run = { policy, rule, ...cleaning };
    switch (request.cause) {
      case 'admission':
        return runAdmission(request, run);
      case 'change':
        return runChange(request, run);
      default:
        return runAll(request, run, rule.generateExisting);
    }
  };

  type Run = CleanUp & { readonly policy: CompiledPolicy };

  async function runAdmission(request: UpdateRequest, run: Run): Promise<RunResult> {
    if (request.tooLarge !== undefined) return tooLarge(request.tooLarge);
    const trigger = await findTrigger(request, store);
    if (trigger.status === 'wait') return waits.wait(request, trigger.message, triggerWaitMs);
    waits.end(request);
    if (trigger.status === 'none') return { state: 'Skip', message: trigger.message };
    const admissionRequest = requestOfUpdate(request, trigger.object, options.kindOfResource);
    const passed = await passes(admissionRequest, run.policy, run.rule, options);
    if (passed === true) return resultOf(request, await generate(admissionRequest, run));
    if (request.deleteDownstream) return resultOf(request, await cleanUpTrigger(run, request.trigger));
    return passed;
  }

  async function generate(
    admissionRequest: Request,
    run: Run,
    keepStale = false,
  ): Promise<readonly GeneratedObject[]> {
    const { dataSource, environment, evaluation } = options;
    const { objects } = await runGenerate({
      ...run,
      request: admissionRequest,
      keepStale,
      dataSource,
      environment,
      evaluation,
    });
    return objects;
  }

  /** A generated object, its source or its trigger changed outside of the rule. */
  async function runChange(request: UpdateRequest, run: Run): Promise<RunResult> {
    const removed = readObject(request.admission, 'removedSource');
    if (removed !== undefined) return resultOf(request, await cleanUpSource(run, sourceRef(removed)));
    if (request.trigger.name === '') return runAll(request, run, false);
    return resultOf(request, await generateAgain(request.trigger, run));
  }

  async function generateAgain(
    trigger: ObjectRef,
    run: Run,
    keepStale = false,
  ): Promise<readonly GeneratedObject[]> {
    if (!isInScope(run.policy, trigger, store)) return [];
    const object = await store.get(trigger);
    if (object === undefined) return cleanUpTrigger(run, trigger);
    if (isBeingDeleted(object)) return [];
    const current = await stillTriggers(object, run.policy, run.rule, options);
    if (current.status === 'skipped') return [];
    if (current.status === 'failed') {
      const { failure } = current;
      const message = triggerFailureText({
        policy: run.policy,
        type: 'generate',
        rule: run.rule,
        ...current,
      });
      return [{ action: 'failed', message, code: failure.code }];
    }
    // Objects disappear with their namespace or their kind.
    return (await generate(current.request, run, keepStale)).map((one) =>
      one.storeError?.reason === 'notFound' ? { ...one, action: 'skipped' } : one,
    );
  }

  /** Runs the rule for every trigger, or only for those with generated objects. */
  async function runAll(request: UpdateRequest, run: Run, allTriggers: boolean): Promise<RunResult> {
    const made: GeneratedObject[] = [];
    const keepStale = request.cause === 'policyUpdate';
    if (allTriggers) {
      for (const object of await listTriggers(store, run.policy, run.rule)) {
        if (run.isActive?.() === false) break;
        if (isBeingDeleted(object)) continue;
        const admissionRequest = requestFor(object, { operation: null });
        const passed = await passes(admissionRequest, run.policy, run.rule, options);
        if (passed === true) made.push(...(await generate(admissionRequest, run, keepStale)));
      }
    } else if (run.rule.synchronize) {
      for (const trigger of await formerTriggers(run)) {
        if (run.isActive?.() === false) break;
        made.push(...(await generateAgain(trigger, run, keepStale)));
      }
    }
    return resultOf(request, made);
  }

  async function formerTriggers({ policy, rule }: Run): Promise<readonly ObjectRef[]> {
    const triggers = new Map<string, ObjectRef>();
    for (const object of await downstreamOfRule(policy, rule, store)) {
      const trigger = originOf(object)?.trigger;
      if (trigger !== undefined && trigger.name !== '') triggers.set(refKey(trigger), trigger);
    }
    return [...triggers.values()];
  }

  async function resultOf(request: UpdateRequest, made: readonly GeneratedObject[]): Promise<RunResult> {
    for (const one of made) options.onGenerated?.(request, one);
    const failed = made.filter(({ action }) => action === 'failed');
    if (failed.length > 0) {
      const policy = options.policyOf(request.policy);
      const isForbidden = failed.some(({ storeError }) => storeError?.reason === 'forbidden');
      const advice = isForbidden && policy !== undefined ? await options.adviceFor?.(policy) : undefined;
      const messages = messagesOf(failed);
      // Another attempt would cost as much.
      const permanent = failed.every(({ code }) => code === 'KYM_BUDGET_EXHAUSTED') || undefined;
      return {
        state: 'Failed',
        message: advice === undefined ? messages : `${messages}\n${advice}`,
        permanent,
      };
    }
    const changes = made.filter(({ action }) => action !== 'unchanged' && action !== 'skipped');
    if (made.length === 0) return { state: 'Skip', message: 'nothing to do' };
    if (made.every(({ action }) => action === 'skipped')) return { state: 'Skip', message: messagesOf(made) };
    const shown = changes.slice(0, maxShown).map(({ message }) => message);
    const more = changes.length - shown.length;
    return {
      state: 'Completed',
      message:
        changes.length === 0
          ? 'everything is up to date'
          : [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; '),
    };
  }
}

function messagesOf(made: readonly GeneratedObject[]): string {
  return [...new Set(made.map(({ message }) => message))].slice(0, maxShown).join('; ');
}

/** Restores what the request records about a deleted rule: its name and the kinds it generated. */
function formerRule({ policy, rule, admission }: UpdateRequest): Pick<CleanUp, 'policy' | 'rule'> {
  const slash = policy.indexOf('/');
  const kinds = member(admission, 'kinds');
  const former = {
    name: rule,
    synchronize: true,
    orphanDownstreamOnPolicyDelete: false,
    document: { generate: { foreach: isArray(kinds) ? kinds : [] } },
  };
  return {
    policy: {
      name: policy.slice(slash + 1),
      namespace: slash < 0 ? undefined : policy.slice(0, slash),
    },
    rule: former as unknown as CompiledGenerateRule,
  };
}

function sourceRef(source: JsonObject): ObjectRef {
  return {
    apiVersion: readText(source, 'apiVersion') ?? '',
    kind: readText(source, 'kind') ?? '',
    namespace: readText(source, 'namespace') ?? '',
    name: readText(source, 'name') ?? '',
    uid: readText(source, 'uid') || undefined,
  };
}
