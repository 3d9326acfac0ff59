import { failureText } from '../../admission/failure-text.ts';
import type { Outcome } from '../../engine/outcome.ts';
import type { Request } from '../../engine/request.ts';
import { readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { isMutatingPolicy } from '../../policy/policy-id.ts';

export type EventReason =
  | 'PolicyApplied'
  | 'PolicyViolation'
  | 'PolicySkipped'
  | 'PolicyError'
  | 'PolicyAudited';

/** An event about one object. It contains no data from inside an object. */
export interface EventNote {
  readonly reason: EventReason;
  readonly type: 'Normal' | 'Warning';
  readonly action: string;
  readonly note: string;
  readonly regarding: EventSubject;
  readonly related?: EventSubject;
}

export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

export interface EventChoice {
  /** Reasons to omit. */
  readonly omitted: ReadonlySet<string>;
  readonly success: boolean;
  /** Actions whose success events are written; empty for all. */
  readonly successActions: readonly string[];
}

export interface ReviewEvents {
  readonly request: Request;
  readonly outcomes: readonly Outcome[];
  readonly audited: readonly Outcome[];
  readonly denied: boolean;
}

const mutated = 'Resource Mutated';

/** The events of one review. A denied request has only the denial; an object without a name has no events. */
export function eventNotes(review: ReviewEvents, choice: EventChoice): readonly EventNote[] {
  const { request, outcomes, audited, denied } = review;
  if (denied || request.name === '') return [];
  const object = subjectOfRequest(request);
  const notes: EventNote[] = [];
  for (const [policy, ofPolicy] of byPolicy(outcomes)) {
    const failed = ofPolicy.some(({ status }) => status === 'failed');
    const skipped = ofPolicy.some(({ status }) => status === 'skipped');
    if (failed) notes.push(...violations(policy, ofPolicy, object));
    else if (!skipped && choice.success && isChosen(mutated, choice)) notes.push(applied(policy, object));
    notes.push(...exceptions(policy, ofPolicy, object));
  }
  for (const outcome of audited) if (outcome.status === 'applied') notes.push(wouldChange(outcome, object));
  return notes.filter(({ reason }) => !choice.omitted.has(reason));
}

function isChosen(action: string, { successActions }: EventChoice): boolean {
  return successActions.length === 0 || successActions.includes(action);
}

function byPolicy(outcomes: readonly Outcome[]): ReadonlyMap<CompiledPolicy, readonly Outcome[]> {
  const groups = new Map<CompiledPolicy, Outcome[]>();
  for (const outcome of outcomes) {
    const list = groups.get(outcome.policy);
    if (list === undefined) groups.set(outcome.policy, [outcome]);
    else list.push(outcome);
  }
  return groups;
}

function applied(policy: CompiledPolicy, object: EventSubject): EventNote {
  return {
    reason: 'PolicyApplied',
    type: 'Normal',
    action: mutated,
    note: `${nameOf(object)} is successfully mutated`,
    regarding: subjectOfPolicy(policy),
    related: object,
  };
}

/** One event on the policy for each failed rule, and one on the object for all rules of the policy. */
function violations(
  policy: CompiledPolicy,
  outcomes: readonly Outcome[],
  object: EventSubject,
): readonly EventNote[] {
  const base = { reason: 'PolicyViolation', type: 'Warning', action: 'Resource Passed' } as const;
  return outcomes.flatMap((outcome) => {
    const text = outcome.status === 'failed' ? failureText(outcome) : outcome.status;
    const status = { applied: 'pass', unchanged: 'pass', skipped: 'skip', failed: 'error' }[outcome.status];
    const onObject: EventNote = {
      ...base,
      note: `policy ${policy.key}/${outcome.rule.name} ${status}: ${text}`,
      regarding: object,
    };
    if (outcome.status !== 'failed') return [onObject];
    const note = `${nameOf(object)}: [${outcome.rule.name}] error; ${text}`;
    return [{ ...base, note, regarding: subjectOfPolicy(policy), related: object }, onObject];
  });
}

function exceptions(
  policy: CompiledPolicy,
  outcomes: readonly Outcome[],
  object: EventSubject,
): readonly EventNote[] {
  const base = {
    reason: 'PolicySkipped',
    type: 'Normal',
    action: 'Resource Passed',
    related: object,
  } as const;
  return outcomes.flatMap((outcome) => {
    if (outcome.status !== 'skipped' || outcome.reason.type !== 'exception') return [];
    const names = outcome.reason.exceptions;
    const rule = `rule ${outcome.rule.name} of policy ${policy.key}`;
    return [
      ...names.map((key): EventNote => {
        const [namespace = '', name = ''] = key.split('/');
        const apiVersion = isMutatingPolicy(policy) ? 'policies.kyverno.io/v1' : 'kyverno.io/v2';
        const regarding = { apiVersion, kind: 'PolicyException', name, namespace };
        return { ...base, regarding, note: `${nameOf(object)} was skipped from ${rule}` };
      }),
      {
        ...base,
        regarding: subjectOfPolicy(policy),
        note: `${nameOf(object)} was skipped from ${rule} due to policy exceptions ${names.join(', ')}`,
      },
    ];
  });
}

function wouldChange(outcome: Extract<Outcome, { status: 'applied' }>, object: EventSubject): EventNote {
  const paths = outcome.patch.map(({ path }) => path).join(', ');
  return {
    reason: 'PolicyAudited',
    type: 'Normal',
    action: 'Resource Passed',
    note: `${nameOf(object)}: rule ${outcome.rule.name} would have changed ${paths}`,
    regarding: subjectOfPolicy(outcome.policy),
    related: object,
  };
}

export function subjectOfPolicy(policy: CompiledPolicy): EventSubject {
  const metadata = readObject(policy.document, 'metadata') ?? {};
  const uid = readText(metadata, 'uid');
  return {
    apiVersion: policy.apiVersion,
    kind: policy.kind,
    name: policy.name,
    ...(policy.namespace === undefined ? {} : { namespace: policy.namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}

function subjectOfRequest({ kind, name, namespace, object, oldObject }: Request): EventSubject {
  const metadata: JsonObject = readObject(object ?? oldObject ?? {}, 'metadata') ?? {};
  const uid = readText(metadata, 'uid');
  return {
    apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
    kind: kind.kind,
    name,
    ...(namespace === '' ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}

function nameOf({ kind, namespace, name }: EventSubject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
