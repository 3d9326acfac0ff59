import { createHash } from 'node:crypto';
import { readNumber, readObject, readText } from '../../json/read-field.ts';
import type { CompiledPolicy, CompiledRuleHead } from '../../policy/compiled.ts';
import { policyId } from '../../policy/policy-id.ts';
import { type BackgroundRule, backgroundRules } from '../background-rule.ts';
import { type GeneratedKind, generatedKinds } from '../generate/downstream.ts';
import type { Cause, NewUpdateRequest, RequestType } from '../queue/update-request.ts';
import { triggerReads } from '../triggers/trigger-reads.ts';

/** A policy as it was when its requests were last written. */
export interface SeenPolicy {
  readonly key: string;
  readonly generation: number;
  /** Rules whose objects are deleted with them, and the kinds of these objects. */
  readonly rules: readonly { readonly name: string; readonly kinds: readonly GeneratedKind[] }[];
}

/** By uid: a policy that is deleted and created again is a different policy. */
export type SeenPolicies = ReadonlyMap<string, SeenPolicy>;

export interface SweepPlan {
  readonly requests: readonly NewUpdateRequest[];
  /** The state to store once the requests are written. */
  readonly seen: SeenPolicies;
  readonly isChanged: boolean;
}

/**
 * The requests for new, changed and deleted policies. A policy is new or changed if its uid or generation differs from the
 * stored state, so restarts, leader changes and status updates plan nothing.
 */
export function planSweeps(policies: readonly CompiledPolicy[], known: SeenPolicies): SweepPlan {
  const seen = new Map<string, SeenPolicy>();
  const requests: NewUpdateRequest[] = [];
  const present = new Set<string>();
  for (const policy of policies.filter(actsInBackground)) {
    const { uid, generation } = identityOf(policy);
    const before = known.get(uid);
    const now: SeenPolicy = { key: policyId(policy), generation, rules: ownedRules(policy) };
    seen.set(uid, now);
    for (const { name } of policy.generateRules) present.add(`${policy.key} ${name}`);
    if (before?.generation !== generation)
      requests.push(...updateRequests(policy, `${uid}/${generation}`, before !== undefined));
  }
  for (const [uid, { key, rules, generation }] of known) {
    for (const { name, kinds } of rules) {
      if (present.has(`${key} ${name}`)) continue;
      requests.push({
        ...sweep('generate', key, name, 'policyDelete', `${uid}/${generation}`, ''),
        admission: { kinds: kinds.map((kind) => ({ ...kind })) },
        deleteDownstream: true,
      });
    }
  }
  return { requests, seen, isChanged: !isSame(seen, known) };
}

/** The resync requests of mutate-existing rules and `generateExisting` rules that became due in this interval. */
export function planReconciles(
  policies: readonly CompiledPolicy[],
  intervalMs: number,
  after: number,
  now: number,
): readonly NewUpdateRequest[] {
  if (intervalMs <= 0) return [];
  return policies.flatMap((policy) => {
    const { uid, createdAt } = identityOf(policy);
    const rules: readonly BackgroundRule[] = backgroundRules(policy).filter(isReconciled);
    return rules
      .map(({ type, rule }) => ({ type, rule, due: { id: `${uid} ${rule.name}`, createdAt } }))
      .filter(({ due }) => isDue(due, intervalMs, after, now))
      .map(({ type, rule, due }) => {
        const requestToken = `${uid}/reconcile/${lastRound(due, intervalMs, now)}`;
        return sweep(type, policyId(policy), rule.name, 'reconcile', requestToken, kindsOf(rule));
      });
  });
}

function isReconciled({ type, rule }: BackgroundRule): boolean {
  const isRepeatable = type === 'mutate' ? rule.repeatable : rule.generateExisting;
  return isRepeatable && !triggerReads(rule).user;
}

function actsInBackground(policy: CompiledPolicy): boolean {
  return backgroundRules(policy).length > 0;
}

function updateRequests(
  policy: CompiledPolicy,
  requestToken: string,
  wasThere: boolean,
): readonly NewUpdateRequest[] {
  const request = (type: RequestType, rule: CompiledRuleHead) =>
    sweep(type, policyId(policy), rule.name, 'policyUpdate', requestToken, kindsOf(rule));
  return [
    ...policy.generateRules
      .filter((rule) => rule.generateExisting || (rule.synchronize && wasThere))
      .map((rule) => request('generate', rule)),
    ...backgroundRules(policy)
      .filter(({ type, rule }) => type === 'mutate' && rule.mutateExistingOnPolicyUpdate)
      .map(({ rule }) => request('mutate', rule)),
  ];
}

/** A request without a trigger name covers all triggers. */
function sweep(
  type: RequestType,
  policy: string,
  rule: string,
  cause: Cause,
  requestToken: string,
  kind: string,
): NewUpdateRequest {
  return {
    type,
    policy,
    rule,
    cause,
    requestToken,
    trigger: { apiVersion: '', kind, namespace: '', name: '' },
  };
}

function kindsOf({ match }: CompiledRuleHead): string {
  const blocks = match.any ?? match.all ?? [];
  return [...new Set(blocks.flatMap(({ kinds = [] }) => kinds.map(({ text }) => text)))].join(',');
}

function ownedRules({ generateRules }: CompiledPolicy): SeenPolicy['rules'] {
  return generateRules
    .filter((rule) => rule.synchronize && !rule.orphanDownstreamOnPolicyDelete)
    .map((rule) => ({ name: rule.name, kinds: generatedKinds(rule) }));
}

function identityOf({ document, key }: CompiledPolicy) {
  const metadata = readObject(document, 'metadata') ?? {};
  return {
    uid: readText(metadata, 'uid') ?? key,
    generation: readNumber(metadata, 'generation') ?? 0,
    createdAt: Date.parse(readText(metadata, 'creationTimestamp') ?? '') || 0,
  };
}

function isSame(left: SeenPolicies, right: SeenPolicies): boolean {
  return (
    left.size === right.size &&
    [...left].every(([uid, seen]) => JSON.stringify(right.get(uid)) === JSON.stringify(seen))
  );
}

export interface Reconciled {
  /** Unique per rule: policy uid and rule name. */
  readonly id: string;
  /** When the policy was created, in ms since the epoch. */
  readonly createdAt: number;
}

/** Delays each rule by up to this share of the interval, so that policies created together do not run together. */
const spread = 0.05;

/**
 * The number of the last resync that was due, 0 if none was. The first is due one interval after the policy was created.
 * Only the creation time counts, so restarts and leader changes do not trigger a resync.
 */
export function lastRound({ id, createdAt }: Reconciled, intervalMs: number, now: number): number {
  const offset = fraction(id) * spread * intervalMs;
  return Math.max(0, Math.floor((now - createdAt - offset) / intervalMs));
}

/** Whether a resync became due in this interval. */
export function isDue(rule: Reconciled, intervalMs: number, after: number, now: number): boolean {
  return lastRound(rule, intervalMs, now) > lastRound(rule, intervalMs, after);
}

/** A stable number from 0 to 1 for a string. */
function fraction(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}
