import { requestFor } from '../../admission/resource-request.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import type { Request, RequestUser } from '../../engine/request.ts';
import type { ErrorCode } from '../../errors.ts';
import type { Environment } from '../../expression/scope.ts';
import type { JsonObject } from '../../json/value.ts';
import type {
  CompiledException,
  CompiledPolicy,
  CompiledRuleHead,
  Operation,
} from '../../policy/compiled.ts';
import { isMutatingPolicy } from '../../policy/policy-id.ts';
import { createSnapshot } from '../../policy/registry/registry.ts';
import { type BackgroundRule, backgroundRules } from '../background-rule.ts';
import { systemClock } from '../clock.ts';
import { cleanUpTrigger } from '../generate/cleanup.ts';
import { type GeneratedObject, runGenerate } from '../generate/generate.ts';
import { refKey, refOf, refTitle } from '../object-identity.ts';
import type { ObjectRef, ObjectStore } from '../ports.ts';
import { requestOfTarget } from '../targets/cel-targets.ts';
import { mutateTarget, mutateTargets, type TargetRun } from '../targets/mutate-existing.ts';
import { type TargetWrite, writeTarget } from '../targets/write-target.ts';
import type { TriggerOutcome } from '../triggers/trigger-outcome.ts';
import { triggerOutcomes } from '../triggers/triggered-rules.ts';
import { type AdmittedWrite, withAdmission } from './admitted-writes.ts';

/** Why rules run: the periodic resync, a new or changed policy, or an admission request for each trigger. */
export type Occasion = 'reconcile' | 'policyUpdate' | Operation;

export interface ExistingRun {
  readonly policies: readonly CompiledPolicy[];
  readonly exceptions: readonly CompiledException[];
  readonly store: ObjectStore;
  readonly dataSource: DataSource;
  readonly environment: Environment;
  readonly occasion: Occasion;
  /** The user who sends the requests. */
  readonly user?: RequestUser | undefined;
  /** Also run the rules that each write triggers. In a cluster the API server does this. */
  readonly follow: boolean;
}

/** One action of a rule, successful or not. */
export interface ExistingStep {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRuleHead;
  readonly trigger: ObjectRef;
  /** The affected object, if known. */
  readonly ref?: ObjectRef | undefined;
  readonly action: 'created' | 'updated' | 'deleted' | 'unchanged' | 'skipped' | 'failed';
  readonly message: string;
  readonly code?: ErrorCode | undefined;
  /** Of a CEL policy, about what its author hardly meant. */
  readonly warnings?: readonly string[] | undefined;
}

const background: RequestUser = {
  info: { username: 'system:serviceaccount:kymera:kymera-background', groups: ['system:serviceaccounts'] },
  roles: [],
  clusterRoles: [],
};
/** Writes to one object per trigger before the rule counts as endless. */
const maxWrites = 10;

/** Runs mutate-existing and generate rules for one trigger after the other. */
export function createExistingRun(run: ExistingRun): {
  /** `before` is the old object of an update. */
  act(trigger: JsonObject, before?: JsonObject): AsyncGenerator<ExistingStep>;
} {
  const { policies, dataSource, environment } = run;
  const acting = policies.filter((policy) => backgroundRules(policy).length > 0);
  const written: AdmittedWrite[] = [];
  const store = run.follow
    ? withAdmission(run.store, {
        snapshot: createSnapshot(policies, run.exceptions, { order: 'given' }),
        dataSource,
        environment,
        user: background,
        onWrite: (write) => void written.push(write),
      })
    : run.store;

  async function* act(trigger: JsonObject, before = trigger): AsyncGenerator<ExistingStep> {
    written.length = 0;
    const writes = new Map<string, number>();
    yield* actOn(requestOf(trigger, before), (rule) => isDue(rule, run.occasion));
    for (let write = written.shift(); write !== undefined; write = written.shift()) {
      const key = refKey(refOf(write.object));
      const count = (writes.get(key) ?? 0) + 1;
      writes.set(key, count);
      yield* actOn(followUp(write), () => true, count > maxWrites);
    }
  }

  function requestOf(trigger: JsonObject, before: JsonObject): Request {
    const { occasion, user } = run;
    if (occasion === 'reconcile' || occasion === 'policyUpdate')
      return requestFor(trigger, { operation: null });
    return requestFor(trigger, {
      operation: occasion,
      oldObject: occasion === 'CREATE' ? undefined : before,
      user,
    });
  }

  async function* actOn(
    given: Request,
    only: (rule: BackgroundRule) => boolean,
    isEndless = false,
  ): AsyncGenerator<ExistingStep> {
    for (const policy of acting) {
      const request = isMutatingPolicy(policy) && given.operation === undefined ? sweepRequest(given) : given;
      const due = new Set(
        backgroundRules(policy)
          .filter(only)
          .map(({ rule }) => rule),
      );
      if (due.size === 0) continue;
      const outcomes = await triggerOutcomes(request, policy, {
        dataSource,
        environment,
        exceptions: run.exceptions.filter(
          ({ exceptions, cel }) =>
            cel !== undefined || exceptions.some(({ policyName }) => policyName === policy.key),
        ),
        backgroundUser: background.info.username,
        only: (rule) => due.has(rule as BackgroundRule['rule']),
      });
      for (const outcome of outcomes) {
        if (isEndless && outcome.status === 'passed') yield endless(outcome, request);
        else yield* perform(outcome, request);
      }
    }
  }

  async function* perform(outcome: TriggerOutcome, request: Request): AsyncGenerator<ExistingStep> {
    const { policy } = outcome;
    const trigger = triggerOf(request);
    const about = { policy, rule: outcome.rule, trigger };
    if (outcome.status === 'failed') {
      yield { ...about, action: 'failed', message: outcome.message, code: outcome.failure.code };
    } else if (outcome.status === 'withdrawn' && outcome.type === 'generate') {
      for (const one of await cleanUpTrigger({ policy, rule: outcome.rule, store }, trigger)) {
        yield { ...about, ...generatedStep(one) };
      }
    } else if (outcome.status === 'passed') {
      const steps = outcome.type === 'generate' ? generate(outcome, request) : mutate(outcome, request);
      for await (const step of steps) yield { ...about, ...step };
    }
  }

  async function* generate(outcome: TriggerOutcome & { type: 'generate' }, request: Request) {
    const { policy, rule } = outcome;
    const { objects } = await runGenerate({ policy, rule, request, store, dataSource, environment });
    for (const one of objects) yield generatedStep(one);
  }

  async function* mutate(outcome: TriggerOutcome & { type: 'mutate' }, request: Request) {
    const { policy, rule } = outcome;
    const { exceptions } = run;
    const eachTarget =
      request.operation === undefined &&
      rule.mutation.type === 'cel' &&
      rule.mutation.program.targets?.find === undefined;
    const common = { reader: store, dataSource, environment, exceptions, eachTarget };
    const targets: TargetRun = { policy, rule, request, ...common };
    for (const result of await mutateTargets(targets)) {
      const write = await writeTarget(result, {
        store,
        clock: systemClock,
        isActive: () => true,
        again: (stale, fresh) => mutateTarget(targets, stale.ref, fresh, stale.selectedBy),
      });
      yield targetStep(write);
    }
  }

  return { act };
}

function triggerOf({ object, oldObject }: Request): ObjectRef {
  return refOf(object ?? oldObject ?? {});
}

/** The first round runs only rules that run without a request. Their writes trigger all rules. */
function isDue(background: BackgroundRule, occasion: Occasion): boolean {
  if (occasion !== 'reconcile' && occasion !== 'policyUpdate') return true;
  if (background.type === 'generate') return background.rule.generateExisting;
  return occasion === 'reconcile' ? background.rule.repeatable : background.rule.mutateExistingOnPolicyUpdate;
}

/** For a MutatingPolicy, the request of a run without one describes the object. */
function sweepRequest({ object }: Request): Request {
  return requestOfTarget(object ?? {});
}

function followUp({ operation, object, oldObject }: AdmittedWrite): Request {
  return requestFor(object, {
    operation,
    user: background,
    oldObject,
  });
}

type Step = Pick<ExistingStep, 'ref' | 'action' | 'message' | 'code' | 'warnings'>;

function generatedStep({ ref, action, message, code }: GeneratedObject): Step {
  return { action, message, ref, code };
}

const actions = {
  written: 'updated',
  unchanged: 'unchanged',
  skipped: 'skipped',
  deleted: 'skipped',
  failed: 'failed',
  abandoned: 'failed',
} as const;

function targetStep({ result, outcome, error }: TargetWrite): Step {
  const { ref, outcome: rule } = result;
  const code = error === undefined && rule.status === 'failed' ? rule.failure.code : 'KYM_CLUSTER';
  return {
    ref: ref.kind === '' ? undefined : ref,
    action: actions[outcome],
    message: error?.message ?? rule.message,
    code: outcome === 'failed' ? code : undefined,
    warnings: 'warnings' in rule ? rule.warnings : undefined,
  };
}

function endless({ policy, rule }: TriggerOutcome, request: Request): ExistingStep {
  const trigger = triggerOf(request);
  const message = `${refTitle(trigger)} was written too often: the rule was stopped`;
  return { policy, rule, trigger, action: 'failed', message, code: 'KYM_EXISTING_ENDLESS' };
}
