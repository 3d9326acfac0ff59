import { equal } from '../../json/equal.ts';
import { readObject, readObjects } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { ruleType } from '../../policy/rule-type.ts';
import type { BackgroundState } from '../background/health.ts';
import type { PolicyRecord } from './catalog.ts';
import { cutMessage as cut, readyConditions } from './ready-condition.ts';

/** What the configuration of the webhook says about a policy. */
export interface WebhookState {
  /** Whether the configuration that carries the policy's kinds has been written. */
  readonly written: boolean;
  /** What the API server said when it refused the policy. */
  readonly refusal?: string | undefined;
  readonly unknownKinds?: readonly string[] | undefined;
  /** The last server has ended, and taken the configuration with it. */
  readonly ended?: true | undefined;
  /** What is known of those who act in the background. */
  readonly background?: BackgroundState | undefined;
}

/** The status that a policy should have, or undefined when it has it. */
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

function readinessOf(
  { policy, problems, hiddenBy }: PolicyRecord,
  { written, refusal, unknownKinds = [], ended, background = {} }: WebhookState,
): { readonly ready: boolean; readonly message: string } {
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (policy === undefined) {
    const messages = errors.map(({ pointer, message }) => `${pointer || '/'}: ${message}`);
    return { ready: false, message: cut(`Not Ready: ${messages.join('; ')}`) };
  }
  if (hiddenBy !== undefined)
    return {
      ready: false,
      message: `Not Ready: a policy of ${hiddenBy} has the same name and counts instead`,
    };
  if (refusal !== undefined)
    return { ready: false, message: cut(`Not Ready: the API server refused it: ${refusal}`) };
  if (ended) return { ready: false, message: 'Not Ready: no server is running' };
  if (!written) return { ready: false, message: 'Not Ready: the webhook is not configured yet' };
  if (background.lacking !== undefined)
    return { ready: false, message: cut(`Not Ready: ${background.lacking}`) };
  const notes = [
    ...(background.isAbsent === true
      ? ['rules for existing objects and generate rules are not run: nobody runs `kymera background`']
      : []),
    ...(background.unread === undefined ? [] : [background.unread]),
    ...(policy.rules.some(({ targets, repeatable }) => targets !== undefined && !repeatable)
      ? ['a rule whose patch differs each time is not reconciled']
      : []),
    ...(policy.otherRules.length === 0
      ? []
      : [
          `rules that are not run: ${policy.otherRules.map(({ name, type }) => `${name} (${type})`).join(', ')}`,
        ]),
    ...(unknownKinds.length === 0 ? [] : [`kinds that nothing serves: ${unknownKinds.join(', ')}`]),
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
