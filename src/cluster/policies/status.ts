import { equal } from '../../json/equal.ts';
import { readBoolean, readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { notRunText, ruleType } from '../../policy/rule-type.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import type { ResourceType } from '../api/resource-path.ts';
import type { PolicyRecord } from './catalog.ts';
import {
  cutMessage as cut,
  generationOf,
  type ReadyState,
  readyConditions,
  withCondition,
} from './ready-condition.ts';

/** The part of a policy's status that depends on the webhook configurations. */
export interface WebhookState {
  /** Whether the configuration that contains the policy's kinds has been written. */
  readonly written: boolean;
  /** The API server's message when it refused the policy. */
  readonly refusal?: string | undefined;
  readonly unknownKinds?: readonly string[] | undefined;
  /** The last replica ended and removed the configuration. */
  readonly ended?: true | undefined;
  readonly background?: BackgroundHealth | undefined;
  /** Why rules fail at once. */
  readonly stuckRules?: readonly string[] | undefined;
  readonly admissionPolicy?: AdmissionPolicyState | undefined;
}

/** Whether the API server evaluates a MutatingPolicy as a MutatingAdmissionPolicy. */
export interface AdmissionPolicyState {
  readonly generated: boolean;
  /** Why the policy requests one that is not generated. */
  readonly reason?: string | undefined;
  /** The objects exist, although API servers may not have read them. */
  readonly isWanted?: boolean | undefined;
}

/** Whether the background controller can run the rules of a policy. */
export interface BackgroundHealth {
  /** No background controller is running. */
  readonly isAbsent?: boolean | undefined;
  /** Missing permissions to write, and the role that grants them. */
  readonly lacking?: string | undefined;
  /** Missing permissions to read. */
  readonly limited?: string | undefined;
}

const notLoaded: WebhookState = { written: false, admissionPolicy: { generated: false } };

/** Writes the status of each policy whose status is outdated. Called by the leader. */
export async function writeStatuses(
  client: ApiClient,
  records: readonly PolicyRecord[],
  stateOf: (policy: NonNullable<PolicyRecord['policy']>, record: PolicyRecord) => WebhookState,
  now: Date,
): Promise<void> {
  let failure: unknown;
  for (const record of records) {
    const state = record.policy === undefined ? notLoaded : stateOf(record.policy, record);
    const status = changedStatus(record, state, now);
    if (status === undefined) continue;
    try {
      await client.update(typeOf(record), { ...record.object, status }, { subresource: 'status' });
    } catch (error) {
      // The policy changed or was deleted in the meantime; the next watch event triggers another write.
      if (!hasStatus(error, 404) && !hasStatus(error, 409)) failure = error;
    }
  }
  if (failure !== undefined) throw failure;
}

/** In the version in which the policy was read. */
function typeOf({ kind: { type }, object }: PolicyRecord): ResourceType {
  const version = (readText(object, 'apiVersion') ?? '').split('/')[1] ?? type.version;
  return { ...type, version };
}

/** The status that a policy should have, or undefined if it has it already. */
export function changedStatus(
  record: PolicyRecord,
  webhook: WebhookState,
  now: Date,
): JsonObject | undefined {
  const current = readObject(record.object, 'status') ?? {};
  const desired = statusOf(record, webhook, now, current);
  return equal(current, desired) ? undefined : desired;
}

function statusOf(record: PolicyRecord, webhook: WebhookState, now: Date, current: JsonObject): JsonObject {
  const { ready, message } = readinessOf(record, webhook);
  if (record.kind.type.group === 'policies.kyverno.io')
    return celStatus(record, { ready, message, generated: webhook.admissionPolicy?.generated }, now, current);
  const { ready: _, ...kept } = current;
  const autogen =
    record.policy?.rules.flatMap((rule) => (rule.autogenOf === undefined ? [] : [rule.document])) ?? [];
  return {
    ...kept,
    conditions: readyConditions(record.object, { ready, message }, now),
    autogen: autogen.length === 0 ? {} : { rules: autogen },
    rulecount: ruleCount(record.object),
  };
}

/** As Kyverno writes it, with our message. */
function celStatus(
  { object, policy }: PolicyRecord,
  { ready, message, generated }: ReadyState & { readonly generated: boolean | undefined },
  now: Date,
  current: JsonObject,
): JsonObject {
  const before = readObject(current, 'conditionStatus') ?? {};
  const configs = Object.fromEntries(
    (policy?.rules ?? [])
      .filter(({ autogenOf }) => autogenOf !== undefined)
      .map(({ name, document }) => [
        name.replace(/^autogen-/, ''),
        { targets: targetsOf(document), spec: document },
      ]),
  );
  return {
    ...current,
    conditionStatus: {
      ...before,
      conditions: withCondition(
        readObjects(before, 'conditions'),
        { type: 'WebhookConfigured', ready, message, generation: generationOf(object) },
        now,
      ),
      message,
      ready,
    },
    autogen: Object.keys(configs).length === 0 ? {} : { configs },
    generated: generated ?? readBoolean(current, 'generated') ?? false,
  };
}

/** The resources of a derived policy. */
function targetsOf(spec: JsonObject): readonly JsonObject[] {
  return readObjects(readObject(spec, 'matchConstraints') ?? {}, 'resourceRules').flatMap((rule) =>
    readTexts(rule, 'resources').map((resource) => ({
      group: readTexts(rule, 'apiGroups')[0] ?? '',
      version: readTexts(rule, 'apiVersions')[0] ?? '',
      resource,
      kind: podControllerKinds[resource] ?? '',
    })),
  );
}

const podControllerKinds: Readonly<Record<string, string>> = {
  daemonsets: 'DaemonSet',
  deployments: 'Deployment',
  replicasets: 'ReplicaSet',
  statefulsets: 'StatefulSet',
  jobs: 'Job',
  cronjobs: 'CronJob',
};

function readinessOf(
  { policy, problems, hiddenBy }: PolicyRecord,
  {
    written,
    refusal,
    unknownKinds = [],
    ended,
    background = {},
    stuckRules = [],
    admissionPolicy = { generated: false },
  }: WebhookState,
): ReadyState {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (policy === undefined) {
    const messages = errors.map(({ pointer, message }) => `${pointer || '/'}: ${message}`);
    return { ready: false, message: cut(`Not Ready: ${messages.join('; ')}`) };
  }
  if (hiddenBy !== undefined)
    return {
      ready: false,
      message: `Not Ready: the ${hiddenBy} policy with the same name takes precedence`,
    };
  if (admissionPolicy.generated)
    return { ready: true, message: 'Ready; the API server evaluates it as a MutatingAdmissionPolicy' };
  if (refusal !== undefined)
    return { ready: false, message: cut(`Not Ready: the API server refused it: ${refusal}`) };
  if (ended) return { ready: false, message: 'Not Ready: no server is running' };
  if (!written) return { ready: false, message: 'Not Ready: the webhook is not configured yet' };
  if (background.lacking !== undefined)
    return { ready: false, message: cut(`Not Ready: ${background.lacking}`) };
  const notes = [
    ...(admissionPolicy.reason === undefined
      ? []
      : [`no MutatingAdmissionPolicy is generated: ${admissionPolicy.reason}`]),
    ...stuckRules,
    ...(background.isAbsent === true
      ? ['mutateExisting and generate rules do not run: `kymera background` is not running']
      : []),
    ...(background.limited === undefined ? [] : [background.limited]),
    ...(policy.rules.some(({ targets, repeatable }) => targets !== undefined && !repeatable)
      ? ['a rule whose patch differs on each run is not reconciled']
      : []),
    ...(policy.otherRules.length === 0
      ? []
      : [
          notRunText(
            policy.otherRules,
            readObjects(readObject(policy.document, 'spec') ?? {}, 'rules').length,
          ),
        ]),
    ...(unknownKinds.length === 0
      ? []
      : [`kinds that the API server does not serve: ${unknownKinds.join(', ')}`]),
  ];
  return { ready: true, message: cut(notes.length === 0 ? 'Ready' : `Ready; ${notes.join('; ')}`) };
}

function ruleCount(object: JsonObject): JsonObject {
  const counts = { validate: 0, generate: 0, mutate: 0, verifyimages: 0 };
  for (const rule of readObjects(readObject(object, 'spec') ?? {}, 'rules')) {
    const type = ruleType(rule)?.toLowerCase();
    if (type !== undefined && Object.hasOwn(counts, type)) counts[type as keyof typeof counts] += 1;
  }
  return counts;
}
