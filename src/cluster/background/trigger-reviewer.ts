import { withDeadline } from '../../admission/deadline.ts';
import type { PolicySets, RequestSettings } from '../../admission/policy-provider.ts';
import { compileRequestFilter, type RequestFilter } from '../../admission/request-filter.ts';
import { type AdmissionSettings, requestOf } from '../../admission/review-request.ts';
import { type AdmissionReview, allow, reviewWith } from '../../admission/review-response.ts';
import type { NewUpdateRequest } from '../../background/queue/update-request.ts';
import type { TriggerOutcome } from '../../background/triggers/trigger-outcome.ts';
import { triggerFailureText } from '../../background/triggers/trigger-outcome.ts';
import { oldVersionOf, payloadOf } from '../../background/triggers/trigger-payload.ts';
import type { Submission, TriggerQueue } from '../../background/triggers/trigger-queue.ts';
import { triggerReads } from '../../background/triggers/trigger-reads.ts';
import { triggerOutcomes } from '../../background/triggers/triggered-rules.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import type { Request } from '../../engine/request.ts';
import type { Environment } from '../../expression/scope.ts';
import { admissionLimits } from '../../json/budget.ts';
import { readObject, readText } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { policyId } from '../../policy/policy-id.ts';
import { apiVersionOf } from '../api/resource-path.ts';
import { backgroundManager } from './store.ts';
import { exceptionsOf, policiesFor, type TriggerScope } from './trigger-index.ts';

export interface TriggerReviewOptions extends AdmissionSettings {
  policies(): PolicySets;
  settings(): RequestSettings;
  readonly dataSource: DataSource;
  readonly environment: Environment;
  readonly queue: TriggerQueue;
  /** The user of the background controller. */
  background(): BackgroundUser | undefined;
  /** Called with the result of each triggered rule. */
  onTrigger?(trigger: ReviewedTrigger): void;
}

export interface BackgroundUser {
  readonly username: string;
  /** Others use the same user name: only requests with the background controller's field manager are its own. */
  readonly isShared: boolean;
}

export interface ReviewedTrigger {
  readonly policy: CompiledPolicy;
  readonly rule: string;
  readonly request: Request;
  readonly outcome: Submission['outcome'] | 'failed';
  readonly reason: string;
}

/** Reviews requests that may trigger mutateExisting and generate rules. It does not wait for the rules to run. */
export type TriggerReviewer = (
  body: Json,
  scope: TriggerScope,
  milliseconds: number,
) => Promise<AdmissionReview>;

export function createTriggerReviewer(options: TriggerReviewOptions): TriggerReviewer {
  const filterFor = filterCache(() => options.settings());
  return async (body, scope, milliseconds) => {
    const { uid, apiVersion, dryRun, request } = requestOf(body, options);
    if (dryRun || filterFor()(request) !== undefined) return reviewWith(apiVersion, allow(uid));
    if (isUnconfirmable(request)) return reviewWith(apiVersion, allow(uid, [unconfirmable]));
    const raw = isObject(body) ? (readObject(body, 'request') ?? {}) : {};
    const endsAt = performance.now() + milliseconds;
    const policies = policiesFor(options.policies(), scope, request.kind.kind);
    const told = await Promise.all(policies.map((policy) => review(policy, request, raw, endsAt)));
    return reviewWith(apiVersion, allow(uid, told.flat()));
  };

  async function review(
    policy: CompiledPolicy,
    request: Request,
    raw: JsonObject,
    endsAt: number,
  ): Promise<readonly string[]> {
    const own = ownUser(raw, options.background());
    const outcomes = await triggerOutcomes(request, policy, {
      dataSource: withDeadline(options.dataSource, endsAt - performance.now()),
      environment: options.environment,
      evaluation: { limits: { ...admissionLimits, deadline: endsAt }, clock: () => performance.now() },
      exceptions: exceptionsOf(options.policies().all, policy),
      ...(own === undefined ? {} : { backgroundUser: own }),
    });
    const told = await Promise.all(outcomes.map((outcome) => take(outcome, request, raw, endsAt)));
    return told.flatMap((text) => (text === undefined ? [] : [text]));
  }

  /** Returns a warning if a triggered rule does not run, or not immediately. */
  async function take(
    outcome: TriggerOutcome,
    request: Request,
    raw: JsonObject,
    endsAt: number,
  ): Promise<string | undefined> {
    const { policy, rule } = outcome;
    const tell = (result: ReviewedTrigger['outcome'], reason: string) =>
      options.onTrigger?.({ policy, rule: rule.name, request, outcome: result, reason });
    if (outcome.status === 'skipped') return undefined;
    if (outcome.status === 'failed') {
      const text = triggerFailureText(outcome);
      tell('failed', text);
      return `policy ${policy.key}.${rule.name}: ${text}`;
    }
    const left = Math.max(1, endsAt - performance.now());
    const now = options.environment.now().getTime();
    const submitted = await options.queue.submit(newRequest(outcome, request, raw, now), left);
    const reason = 'reason' in submitted ? submitted.reason : '';
    tell(submitted.outcome, reason);
    if (submitted.outcome === 'written') return undefined;
    const fate = submitted.outcome === 'waiting' ? 'runs later' : 'does not run';
    return `policy ${policy.key}.${rule.name}: the rule ${fate}: ${reason}`;
  }
}

const unconfirmable = 'mutateExisting and generate rules do not run: the object has no metadata.uid';

/** A created or updated object has a uid by which the stored object is recognised. Without one, the review may be forged. */
function isUnconfirmable({ operation, subresource, object }: Request): boolean {
  if (subresource !== '' || (operation !== 'CREATE' && operation !== 'UPDATE')) return false;
  return (readText(readObject(object ?? {}, 'metadata') ?? {}, 'uid') ?? '') === '';
}

/** The user name if the request comes from the background controller; undefined otherwise. */
function ownUser(raw: JsonObject, background: BackgroundUser | undefined): string | undefined {
  if (background === undefined) return undefined;
  const manager = readText(readObject(raw, 'options') ?? {}, 'fieldManager');
  return background.isShared && manager !== backgroundManager ? undefined : background.username;
}

function newRequest(
  outcome: TriggerOutcome,
  request: Request,
  raw: JsonObject,
  receivedAt: number,
): NewUpdateRequest {
  const { policy, rule, type, status } = outcome;
  const { operation = 'CREATE', subresource, object, oldObject, user } = request;
  const objects = { operation, subresource, object, oldObject };
  const { tooLarge, ...kept } = payloadOf(objects, triggerReads(rule));
  const oldVersion = oldVersionOf(objects);
  const trigger = triggerOf(request);
  return {
    type,
    policy: policyId(policy),
    rule: rule.name,
    cause: 'admission',
    requestToken: readText(raw, 'uid') ?? '',
    trigger,
    operation,
    receivedAt,
    ...(user === undefined ? {} : { user }),
    // A generated name is known at this point.
    admission: { ...withoutObjects(raw), name: trigger.name, ...kept },
    ...(oldVersion === undefined ? {} : { oldVersion }),
    ...(tooLarge === undefined ? {} : { tooLarge }),
    ...(status === 'withdrawn' ? { deleteDownstream: true } : {}),
  };
}

function triggerOf({
  kind,
  name,
  namespace,
  subresource,
  object,
  oldObject,
}: Request): NewUpdateRequest['trigger'] {
  const metadata = readObject(object ?? oldObject ?? {}, 'metadata') ?? {};
  // The body of a subresource is not the trigger object.
  const uid = subresource === '' ? readText(metadata, 'uid') : undefined;
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    // In a review, the namespace of a Namespace is its own name.
    namespace: kind.kind === 'Namespace' && kind.group === '' ? '' : namespace,
    name: (subresource === '' ? readText(metadata, 'name') : undefined) ?? name,
    ...(uid === undefined ? {} : { uid }),
    ...(subresource === '' ? {} : { subresource }),
  };
}

function withoutObjects(raw: JsonObject): JsonObject {
  const { object: _, oldObject: __, userInfo: ___, operation: ____, ...rest } = raw;
  return rest;
}

function filterCache(settings: () => RequestSettings): () => RequestFilter {
  let known: RequestSettings | undefined;
  let filter: RequestFilter = () => undefined;
  return () => {
    const current = settings();
    if (current !== known) {
      known = current;
      filter = compileRequestFilter(current);
    }
    return filter;
  };
}
