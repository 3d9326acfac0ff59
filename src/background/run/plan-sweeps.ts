import { createHash } from 'node:crypto';
import { readNumber, readObject, readText } from '../../json/read-field.ts';
import type { CompiledPolicy, CompiledRuleHead } from '../../policy/compiled.ts';
import { type BackgroundRule, backgroundRules } from '../background-rule.ts';
import { type GeneratedKind, generatedKinds } from '../generate/downstream.ts';
import type { Cause, NewUpdateRequest, RequestType } from '../queue/update-request.ts';
import { triggerReads } from '../triggers/trigger-reads.ts';

/** A policy as it was when it was last acted upon. */
export interface SeenPolicy {
  readonly key: string;
  readonly generation: number;
  /** Rules whose objects go with them, and the kinds of these objects. */
  readonly rules: readonly { readonly name: string; readonly kinds: readonly GeneratedKind[] }[];
}

/** By uid: a policy that is deleted and created anew is another one. */
export type SeenPolicies = ReadonlyMap<string, SeenPolicy>;

export interface SweepPlan {
  readonly requests: readonly NewUpdateRequest[];
  /** What to remember once the requests are written. */
  readonly seen: SeenPolicies;
  readonly isChanged: boolean;
}

/**
 * What policies that are new, changed or gone ask for. Whether one is new or changed is told by its uid and generation, compared with
 * what was remembered: neither a restart nor another leader nor a new status makes a difference.
 */
export function planSweeps(policies: readonly CompiledPolicy[], known: SeenPolicies): SweepPlan {
  const seen = new Map<string, SeenPolicy>();
  const requests: NewUpdateRequest[] = [];
  const present = new Set<string>();
  for (const policy of policies.filter(actsInBackground)) {
    const { uid, generation } = identityOf(policy);
    const before = known.get(uid);
    const now: SeenPolicy = { key: policy.key, generation, rules: ownedRules(policy) };
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

/** The regular looks at rules for existing objects, and at generate rules for such triggers, that fell due in a span. */
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
        return sweep(type, policy.key, rule.name, 'reconcile', requestToken, kindsOf(rule));
      });
  });
}

function isReconciled({ type, rule }: BackgroundRule): boolean {
  const isRepeatable = type === 'mutate' ? rule.repeatable : rule.generateExisting;
  return isRepeatable && !triggerReads(rule).user;
}

function actsInBackground({ rules, generateRules }: CompiledPolicy): boolean {
  return generateRules.length > 0 || rules.some(({ targets }) => targets !== undefined);
}

function updateRequests(
  policy: CompiledPolicy,
  requestToken: string,
  wasThere: boolean,
): readonly NewUpdateRequest[] {
  const request = (type: RequestType, rule: CompiledRuleHead) =>
    sweep(type, policy.key, rule.name, 'policyUpdate', requestToken, kindsOf(rule));
  return [
    ...policy.generateRules
      .filter((rule) => rule.generateExisting || (rule.synchronize && wasThere))
      .map((rule) => request('generate', rule)),
    ...policy.rules
      .filter((rule) => rule.targets !== undefined && rule.mutateExistingOnPolicyUpdate)
      .map((rule) => request('mutate', rule)),
  ];
}

/** Without the name of a trigger: about all of them. */
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
  /** Tells rules apart: policy uid and rule. */
  readonly id: string;
  /** When the policy was created, in ms since the epoch. */
  readonly createdAt: number;
}

/** Later than the exact time by up to this part of the interval, so that policies created together do not run together. */
const spread = 0.05;

/**
 * The last regular look that was due: the first comes one interval after the policy was created. Counted from there alone, so that
 * neither a restart nor another leader brings one forward. 0 when none was due yet.
 */
export function lastRound({ id, createdAt }: Reconciled, intervalMs: number, now: number): number {
  const offset = fraction(id) * spread * intervalMs;
  return Math.max(0, Math.floor((now - createdAt - offset) / intervalMs));
}

/** Whether a look fell due in this span. */
export function isDue(rule: Reconciled, intervalMs: number, after: number, now: number): boolean {
  return lastRound(rule, intervalMs, now) > lastRound(rule, intervalMs, after);
}

/** Of the text, between 0 and 1, always the same. */
function fraction(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}
