import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../engine/outcome.ts';
import type { Request } from '../../engine/request.ts';
import { kinds, policy, rule } from '../policies/policy.testing.ts';
import { eventOf } from './events.ts';
import { type EventChoice, eventNotes } from './review-events.ts';

const made = policy('p', [rule(kinds('ConfigMap'))]);
const [first] = made.rules;
if (first === undefined) throw new Error('no rule');
const base = { policy: made, rule: first };
const applied: Outcome = {
  ...base,
  status: 'applied',
  message: 'm',
  misses: [],
  before: {},
  after: {},
  patch: [{ op: 'add', path: '/metadata/labels/a', value: 'SECRET' }],
};
const skipped: Outcome = {
  ...base,
  status: 'skipped',
  message: 'm',
  reason: { type: 'preconditions', conditions: [] },
};
const excepted: Outcome = {
  ...base,
  status: 'skipped',
  message: 'm',
  reason: { type: 'exception', exceptions: ['ops/e'] },
};
const failed: Outcome = {
  ...base,
  status: 'failed',
  message: 'SECRET',
  failure: { code: 'KYM_JSON_PATCH_FAILED', stage: 'patch', rulePath: ['mutate'], detail: 'SECRET' },
};
const request: Request = {
  operation: 'CREATE',
  kind: { group: '', version: 'v1', kind: 'ConfigMap' },
  subresource: '',
  name: 'web',
  namespace: 'team',
  object: null,
  oldObject: null,
  variables: {},
};
const all: EventChoice = { omitted: new Set(), success: true, successActions: [] };
const notes = (
  outcomes: readonly Outcome[],
  more: Partial<Parameters<typeof eventNotes>[0]> = {},
  choice = all,
) => eventNotes({ request, outcomes, audited: [], denied: false, ...more }, choice);
const shown = (...args: Parameters<typeof notes>) =>
  notes(...args).map(({ reason, regarding, note }) => `${reason} ${regarding.kind}: ${note}`);

describe('events of a review', () => {
  it('report an applied policy, if success events are enabled', () => {
    expect(shown([applied])).toEqual([
      'PolicyApplied ClusterPolicy: ConfigMap team/web is successfully mutated',
    ]);
    expect(shown([applied], {}, { ...all, success: false })).toEqual([]);
    expect(shown([applied], {}, { ...all, successActions: ['Resource Generated'] })).toEqual([]);
    expect(shown([applied], {}, { ...all, omitted: new Set(['PolicyApplied']) })).toEqual([]);
  });

  it('do not call a policy applied of which a rule was skipped', () => {
    expect(shown([applied, skipped])).toEqual([]);
  });

  it('report a failure on the policy and, with all its rules, on the object', () => {
    expect(notes([applied, failed]).map(({ reason, regarding }) => [reason, regarding.kind])).toEqual([
      ['PolicyViolation', 'ConfigMap'],
      ['PolicyViolation', 'ClusterPolicy'],
      ['PolicyViolation', 'ConfigMap'],
    ]);
  });

  it('report exceptions', () => {
    expect(shown([excepted])).toEqual([
      'PolicySkipped PolicyException: ConfigMap team/web was skipped from rule rule of policy p',
      'PolicySkipped ClusterPolicy: ConfigMap team/web was skipped from rule rule of policy p due to policy exceptions ops/e',
    ]);
  });

  it('report by path what a policy in audit mode would have changed', () => {
    expect(shown([], { audited: [applied] })).toEqual([
      'PolicyAudited ClusterPolicy: ConfigMap team/web: rule rule would have changed /metadata/labels/a',
    ]);
  });

  it('are none for a refused request, and none for an object without a name', () => {
    expect(notes([failed], { denied: true })).toEqual([]);
    expect(notes([failed], { request: { ...request, name: '' } })).toEqual([]);
  });

  it('hold no value of the object', () => {
    expect(JSON.stringify(notes([applied, failed, excepted], { audited: [applied] }))).not.toContain(
      'SECRET',
    );
  });
});

describe('an event object', () => {
  const where = { source: 'kymera-admission', host: 'h' };
  const time = new Date('2026-01-02T03:04:05.678Z');

  it('is in the namespace of its object, or in default', () => {
    const [onPolicy, onObject] = notes([failed]);
    if (onPolicy === undefined || onObject === undefined) throw new Error('no notes');
    expect(eventOf(onPolicy, where, time, 0)).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      metadata: { namespace: 'default', name: expect.stringMatching(/^p\.[0-9a-f]+$/) },
      eventTime: '2026-01-02T03:04:05.678000Z',
      reportingController: 'kymera-admission',
      reportingInstance: 'kymera-admission-h',
      related: { kind: 'ConfigMap', namespace: 'team', name: 'web' },
    });
    expect(eventOf(onObject, where, time, 1)).toMatchObject({ metadata: { namespace: 'team' } });
  });

  it.each([
    ['ASCII', 'x'.repeat(2000), 1024],
    ['two bytes each', 'ü'.repeat(600), 1023],
    ['three bytes each', '名'.repeat(400), 1023],
    ['four bytes each', '😀'.repeat(300), 1023],
    ['as long as possible', 'ü'.repeat(512), 1024],
  ])('has a note of at most 1024 bytes, of whole characters: %s', (_, text, bytes) => {
    const [note] = notes([applied]);
    if (note === undefined) throw new Error('no note');
    const written = String(eventOf({ ...note, note: text }, where, time, 0)['note']);
    expect(Buffer.byteLength(written)).toBe(bytes);
    expect(text.startsWith(written.replace(/…$/, ''))).toBe(true);
  });

  it('has a reportingInstance of at most 128 bytes', () => {
    const [note] = notes([applied]);
    if (note === undefined) throw new Error('no note');
    const { reportingInstance } = eventOf(note, { ...where, host: 'h'.repeat(200) }, time, 0);
    expect(reportingInstance).toHaveLength(128);
  });
});
