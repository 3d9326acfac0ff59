import { describe, expect, it } from 'vitest';
import { type Blockage, fingerprintOf } from '../../admission/blockage.ts';
import { loadDocuments } from '../../policy/load.ts';
import { policy as policyText } from '../../policy/policy.testing.ts';
import { mergeBlockages, stuckRuleNotes } from './shared-blockages.ts';

const blockage = (id: string, more: Partial<Blockage> = {}): Blockage => ({
  id,
  policy: 'p',
  rule: 'r',
  fingerprint: 'f',
  namespace: 'shop',
  ...more,
});

describe('the blockages of all replicas', () => {
  it('count once each, and two of a rule and namespace are enough', () => {
    const stored = mergeBlockages([], [blockage('a'), blockage('a'), blockage('b', { namespace: 'other' })]);
    expect(stored.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(mergeBlockages(stored, [blockage('c'), blockage('d')]).map(({ id }) => id)).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  it('are as many as fit into a ConfigMap: the oldest are dropped', () => {
    const long = 'x'.repeat(253);
    const many = Array.from({ length: 2_000 }, (_, index) =>
      blockage(`${long}${index}`, { policy: `${long}/${long}`, rule: long, namespace: `${long}${index}` }),
    );
    const stored = mergeBlockages([], many);
    expect(stored.at(-1)).toBe(many.at(-1));
    expect(JSON.stringify(stored).length).toBeLessThan(1024 * 1024);
  });
});

describe('the status of a policy', () => {
  const { policies } = loadDocuments([
    { file: 'p.yaml', text: policyText({ match: 'any: [{resources: {kinds: [ConfigMap]}}]' }) },
  ]);
  const [policy] = policies;
  const [rule] = policy?.rules ?? [];
  if (policy === undefined || rule === undefined) throw new Error('no rule');
  const own = { policy: policy.key, rule: rule.name, fingerprint: fingerprintOf(rule) };

  it('reports a rule that blocked two replicas', () => {
    expect(stuckRuleNotes([blockage('a', own)], policy)).toEqual([]);
    expect(stuckRuleNotes([blockage('a', own), blockage('b', own)], policy)).toEqual([
      `rule ${rule.name} fails at once for objects of namespace "shop": it has blocked the server twice`,
    ]);
  });

  it('does not report a rule that was changed since, or a rule of another policy', () => {
    const changed = { ...own, fingerprint: 'other' };
    const foreign = { ...own, policy: 'other' };
    expect(
      stuckRuleNotes([blockage('a', changed), blockage('b', changed), blockage('c', foreign)], policy),
    ).toEqual([]);
  });
});
