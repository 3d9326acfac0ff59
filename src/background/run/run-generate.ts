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
import { findTrigger } from '../triggers/find-trigger.ts';
import { listTriggers } from '../triggers/list-triggers.ts';
import { requestOfUpdate } from '../triggers/request-of.ts';
import { gone, passes, type RunnerOptions, tooLarge } from './run-request.ts';

export interface GenerateRunnerOptions extends Omit<RunnerOptions, 'generate' | 'onWrite'> {
  onGenerated?(request: UpdateRequest, made: GeneratedObject): void;
}

const defaultTriggerWaitMs = 10_000;
const mostShown = 3;

/** Does what an UpdateRequest of a generate rule asks for. */
export function createGenerateRunner(
  options: GenerateRunnerOptions,
): (request: UpdateRequest, isActive: () => boolean) => Promise<RunResult> {
  const { store, clock, triggerWaitMs = defaultTriggerWaitMs } = options;
  const waits = createWaits(clock);

  return async (request, isActive) => {
    const cleaning = { store, isActive };
    if (request.cause === 'policyDelete')
      return told(request, await cleanUpRule({ ...formerRule(request), ...cleaning }));
    const policy = options.policyOf(request.policy);
    const rule = policy?.generateRules.find(({ name }) => name === request.rule);
    if (policy === undefined || rule === undefined) return gone(request, policy);
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
    waits.over(request);
    if (trigger.status === 'none') return { state: 'Skip', message: trigger.message };
    const asked = requestOfUpdate(request, trigger.object, options.kindOfResource);
    const passed = await passes(asked, run.policy, run.rule, options);
    if (passed === true) return told(request, await generate(asked, run));
    if (request.deleteDownstream) return told(request, await cleanUpTrigger(run, request.trigger));
    return passed;
  }

  async function generate(asked: Request, run: Run): Promise<readonly GeneratedObject[]> {
    const { dataSource, environment } = options;
    const { objects } = await runGenerate({ ...run, request: asked, dataSource, environment });
    return objects;
  }

  /** Something that was generated, its source or its trigger changed behind the rule's back. */
  async function runChange(request: UpdateRequest, run: Run): Promise<RunResult> {
    const removed = readObject(request.admission, 'removedSource');
    if (removed !== undefined) return told(request, await cleanUpSource(run, sourceRef(removed)));
    if (request.trigger.name === '') return runAll(request, run, false);
    return told(request, await generateAgain(request.trigger, run));
  }

  async function generateAgain(trigger: ObjectRef, run: Run): Promise<readonly GeneratedObject[]> {
    const object = await store.get(trigger);
    if (object === undefined) return cleanUpTrigger(run, trigger);
    return generate(requestFor(object, { operation: null }), run);
  }

  /** For every trigger; or for those alone for which something was generated before. */
  async function runAll(request: UpdateRequest, run: Run, isForAll: boolean): Promise<RunResult> {
    const made: GeneratedObject[] = [];
    if (isForAll) {
      for (const object of await listTriggers(store, run.policy, run.rule)) {
        if (run.isActive?.() === false) break;
        const asked = requestFor(object, { operation: null });
        const passed = await passes(asked, run.policy, run.rule, options);
        if (passed === true) made.push(...(await generate(asked, run)));
      }
    } else if (run.rule.synchronize) {
      for (const trigger of await formerTriggers(run)) {
        if (run.isActive?.() === false) break;
        made.push(...(await generateAgain(trigger, run)));
      }
    }
    return told(request, made);
  }

  async function formerTriggers({ policy, rule }: Run): Promise<readonly ObjectRef[]> {
    const triggers = new Map<string, ObjectRef>();
    for (const object of await downstreamOfRule(policy, rule, store)) {
      const trigger = originOf(object)?.trigger;
      if (trigger !== undefined && trigger.name !== '') triggers.set(refKey(trigger), trigger);
    }
    return [...triggers.values()];
  }

  async function told(request: UpdateRequest, made: readonly GeneratedObject[]): Promise<RunResult> {
    for (const one of made) options.onGenerated?.(request, one);
    const failed = made.filter(({ action }) => action === 'failed');
    if (failed.length > 0) {
      const policy = options.policyOf(request.policy);
      const isForbidden = failed.some(({ storeError }) => storeError?.reason === 'forbidden');
      const advice = isForbidden && policy !== undefined ? await options.adviceFor?.(policy) : undefined;
      const messages = [...new Set(failed.map(({ message }) => message))].slice(0, mostShown).join('; ');
      return { state: 'Failed', message: advice === undefined ? messages : `${messages}\n${advice}` };
    }
    const changes = made.filter(({ action }) => action !== 'unchanged' && action !== 'skipped');
    if (made.length === 0) return { state: 'Skip', message: 'there is nothing to do' };
    const shown = changes.slice(0, mostShown).map(({ message }) => message);
    const more = changes.length - shown.length;
    return {
      state: 'Completed',
      message:
        changes.length === 0
          ? 'everything is as it should be'
          : [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; '),
    };
  }
}

/** What is known of a rule that is gone: what it was called, and which kinds it made. */
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
      ...(slash < 0 ? {} : { namespace: policy.slice(0, slash) }),
    },
    rule: former as unknown as CompiledGenerateRule,
  };
}

function sourceRef(source: JsonObject): ObjectRef {
  const uid = readText(source, 'uid');
  return {
    apiVersion: readText(source, 'apiVersion') ?? '',
    kind: readText(source, 'kind') ?? '',
    namespace: readText(source, 'namespace') ?? '',
    name: readText(source, 'name') ?? '',
    ...(uid === undefined ? {} : { uid }),
  };
}
