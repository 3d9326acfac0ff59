import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { compilePolicy } from '../../policy/compile/policy.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { isDue, lastRound, planReconciles, planSweeps, type SeenPolicies } from './plan-sweeps.ts';

const hour = 3_600_000;
const match = { any: [{ resources: { kinds: ['ConfigMap'] } }] };
const existing = (name: string, onUpdate: boolean, value = 'b'): JsonObject => ({
  name,
  match,
  mutate: {
    mutateExistingOnPolicyUpdate: onUpdate,
    targets: [{ apiVersion: 'v1', kind: 'Secret', name: 's', namespace: 'ns' }],
    patchStrategicMerge: { metadata: { labels: { a: value } } },
  },
});
const generating = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  match,
  generate: { apiVersion: 'v1', kind: 'Secret', name: 'x', namespace: 'ns', data: { data: {} }, ...more },
});

function policy(rules: readonly JsonObject[], generation = 1, uid = 'u'): CompiledPolicy {
  const metadata = { name: 'p', uid, generation, creationTimestamp: '2026-01-01T00:00:00Z' };
  const { policy: compiled, problems } = compilePolicy(
    { apiVersion: 'kyverno.io/v1', kind: 'ClusterPolicy', metadata, spec: { rules: [...rules] } },
    { file: 'test' },
  );
  if (compiled === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return compiled;
}

const nothing: SeenPolicies = new Map();
const told = (policies: readonly CompiledPolicy[], seen: SeenPolicies = nothing) =>
  planSweeps(policies, seen).requests.map(
    ({ cause, rule, requestToken }) => `${cause} ${rule} ${requestToken}`,
  );

describe('a policy that is new or changed', () => {
  const both = (generation: number) => [policy([existing('on', true), existing('off', false)], generation)];

  it('acts on what is there, for rules that say so', () => {
    expect(told(both(1))).toEqual(['policyUpdate on u/1']);
  });

  it('acts once: a restart, another leader or a status is no change', () => {
    const { seen, isChanged } = planSweeps(both(1), nothing);
    expect(isChanged).toBe(true);
    expect(told(both(1), seen)).toEqual([]);
    expect(planSweeps(both(1), seen).isChanged).toBe(false);
  });

  it('runs again when its rules change, and when it is created again', () => {
    const { seen } = planSweeps(both(1), nothing);
    expect(told(both(2), seen)).toEqual(['policyUpdate on u/2']);
    expect(told([policy([existing('on', true)], 1, 'other')], seen)).toEqual(['policyUpdate on other/1']);
  });

  it('generates for what is there, and brings what it generated up to date', () => {
    const rules = [generating('all', { generateExisting: true }), generating('kept', { synchronize: true })];
    expect(told([policy(rules)])).toEqual(['policyUpdate all u/1']);
    const { seen } = planSweeps([policy(rules)], nothing);
    expect(told([policy(rules, 2)], seen)).toEqual(['policyUpdate all u/2', 'policyUpdate kept u/2']);
  });
});

describe('a deleted policy', () => {
  const rules = [
    generating('follows', { synchronize: true }),
    generating('orphan', { synchronize: true, orphanDownstreamOnPolicyDelete: true }),
    generating('free'),
  ];
  const { seen } = planSweeps([policy(rules)], nothing);

  it('takes along what follows it, by the kinds that it made', () => {
    const { requests, seen: after } = planSweeps([], seen);
    expect(requests).toMatchObject([
      {
        cause: 'policyDelete',
        rule: 'follows',
        deleteDownstream: true,
        admission: { kinds: [{ apiVersion: 'v1', kind: 'Secret' }] },
      },
    ]);
    expect(after.size).toBe(0);
  });

  it('deletes nothing when it was created again, or when only some of its rules were removed', () => {
    expect(told([policy(rules, 1, 'other')], seen)).toEqual([]);
    expect(told([policy(rules.slice(1), 2)], seen).filter((text) => text.includes('policyDelete'))).toEqual([
      'policyDelete follows u/1',
    ]);
  });
});

describe('the regular look', () => {
  const created = Date.parse('2026-01-01T00:00:00Z');
  const due = (rules: readonly JsonObject[], hours: number) =>
    planReconciles(
      [policy(rules)],
      hour,
      created + hours * hour - 60_000,
      created + hours * hour + 240_000,
    ).map(({ rule, cause, requestToken }) => `${cause} ${rule} ${requestToken}`);

  it('is at rules for existing objects, whatever they say of policy updates', () => {
    expect(due([existing('off', false), generating('g')], 1)).toEqual(['reconcile off u/reconcile/1']);
    expect(due([existing('off', false)], 0)).toEqual([]);
    expect(due([generating('g', { generateExisting: true })], 2)).toEqual(['reconcile g u/reconcile/2']);
  });

  it('omits rules that are not repeatable, and rules that read the user', () => {
    expect(due([existing('random', true, "{{ random('[a-z]{5}') }}")], 1)).toEqual([]);
    expect(due([existing('user', true, '{{ request.userInfo.username }}')], 1)).toEqual([]);
  });

  it('can be turned off', () => {
    expect(planReconciles([policy([existing('on', true)])], 0, 0, created + 10 * hour)).toEqual([]);
  });
});

const scheduled = { id: 'uid/rule', createdAt: 1_000_000 };

describe('the regular look', () => {
  it('first comes one interval after the policy was created, then every interval', () => {
    const rounds = (hours: number) => lastRound(scheduled, hour, scheduled.createdAt + hours * hour);
    expect([0, 0.5, 0.99, 1.05, 1.9, 2.05, 7.06].map(rounds)).toEqual([0, 0, 0, 1, 1, 2, 7]);
  });

  it('falls due once, however often somebody looks', () => {
    let due = 0;
    for (let now = scheduled.createdAt; now < scheduled.createdAt + 3.5 * hour; now += 60_000)
      if (isDue(scheduled, hour, now - 60_000, now)) due += 1;
    expect(due).toBe(3);
  });

  it('does not come because somebody started to look', () => {
    const now = scheduled.createdAt + 5.5 * hour;
    expect(isDue(scheduled, hour, now, now)).toBe(false);
    expect(isDue(scheduled, hour, now, now + 60_000)).toBe(false);
  });

  it('is spread out for policies that were created together', () => {
    const times = new Set<number>();
    for (let index = 0; index < 50; index++) {
      const each = { id: `uid-${index}`, createdAt: 0 };
      let now = hour;
      while (!isDue(each, hour, 0, now)) now += 1_000;
      times.add(now);
      expect(now).toBeLessThanOrEqual(hour * 1.051);
    }
    expect(times.size).toBeGreaterThan(30);
  });
});
