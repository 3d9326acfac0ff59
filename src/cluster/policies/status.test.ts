import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import { loadCelCompilers } from '../../policy/cel-documents.ts';
import { createPolicyCatalog } from './catalog.ts';
import { policyKinds } from './kinds.ts';
import { kinds, mutatingPolicyDocument, rule } from './policy.testing.ts';
import { type BackgroundHealth, changedStatus, type WebhookState } from './status.ts';

const cel = await loadCelCompilers();

const now = new Date('2026-03-04T05:06:07.891Z');
const written = { written: true };

function record(rules: readonly JsonObject[], more: JsonObject = {}) {
  const catalog = createPolicyCatalog({ kinds: policyKinds, cel });
  const [kind] = policyKinds;
  if (kind === undefined) throw new Error('no kind');
  catalog.set(kind, 'p', {
    apiVersion: 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: { name: 'p', uid: 'u', generation: 3 },
    spec: { background: false, rules: [...rules] },
    ...more,
  });
  const [found] = catalog.records();
  if (found === undefined) throw new Error('no record');
  return found;
}

const configMaps = rule(kinds('ConfigMap'));
const readyMessage = (found: ReturnType<typeof record>, state = written) => {
  const [condition] = (changedStatus(found, state, now)?.['conditions'] ?? []) as readonly JsonObject[];
  return `${condition?.['status']} ${condition?.['reason']} ${condition?.['message']}`;
};

describe('the status of a policy', () => {
  it('is Ready when it loads and the webhook carries it', () => {
    expect(changedStatus(record([configMaps]), written, now)).toEqual({
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Succeeded',
          message: 'Ready',
          lastTransitionTime: '2026-03-04T05:06:07Z',
          observedGeneration: 3,
        },
      ],
      autogen: {},
      rulecount: { validate: 0, generate: 0, mutate: 1, verifyimages: 0 },
    });
  });

  it('is not written again when nothing changed', () => {
    const status = changedStatus(record([configMaps]), written, now);
    const again = record([configMaps], { status: status ?? {} });
    expect(changedStatus(again, written, new Date('2027-01-01T00:00:00Z'))).toBeUndefined();
  });

  it('keeps the time of the last transition while the status is the same', () => {
    const status = changedStatus(record([configMaps]), written, now);
    const changed = record([configMaps, { ...configMaps, name: 'two' }], { status: status ?? {} });
    expect(changedStatus(changed, written, new Date('2027-01-01T00:00:00Z'))).toMatchObject({
      conditions: [{ lastTransitionTime: '2026-03-04T05:06:07Z' }],
      rulecount: { mutate: 2 },
    });
  });

  it('holds the rules that were generated', () => {
    const status = changedStatus(record([rule(kinds('Pod'))]), written, now);
    expect(status).toMatchObject({
      autogen: { rules: [{ name: 'autogen-rule' }, { name: 'autogen-cronjob-rule' }] },
    });
  });

  it('says what is wrong with a policy that does not load', () => {
    expect(readyMessage(record([{ name: 'x', match: kinds('Pod') }]))).toMatch(
      /^False Failed Not Ready: \/spec\/rules\/0/,
    );
  });

  it('is not Ready before the webhook is written', () => {
    expect(readyMessage(record([configMaps]), { written: false })).toBe(
      'False Failed Not Ready: the webhook is not configured yet',
    );
  });

  it('is not Ready when the last server has ended', () => {
    const ended = { written: false, ended: true } as const;
    expect(readyMessage(record([configMaps]), ended)).toBe('False Failed Not Ready: no server is running');
  });

  it('passes on what the API server says', () => {
    const refused = { written: true, refusal: 'bad CEL' };
    expect(readyMessage(record([configMaps]), refused)).toBe(
      'False Failed Not Ready: the API server refused it: bad CEL',
    );
  });

  it('notes rules that are not run', () => {
    const validate = { name: 'v', match: kinds('Pod'), validate: { message: 'm' } };
    expect(readyMessage(record([configMaps, validate]))).toBe(
      'True Succeeded Ready; 1 of 2 rules is not run here: v (validate); keep Kyverno or a ValidatingAdmissionPolicy for it',
    );
    expect(readyMessage(record([validate]))).toBe(
      'True Succeeded Ready; no rule of this policy is run here: v (validate); keep Kyverno or a ValidatingAdmissionPolicy for it',
    );
    const generate = { name: 'g', match: kinds('Namespace'), generate: { kind: 'ConfigMap' } };
    expect(readyMessage(record([configMaps, generate]))).toBe(
      'True Succeeded Ready; 1 of 2 rules is not run here: g (generate); a generate rule needs kyverno.io/v1, and the kind and name of its target',
    );
  });

  it('notes rules that fail at once', () => {
    const stuckRules = ['rule r fails at once'];
    expect(readyMessage(record([configMaps]), { written: true, stuckRules } as typeof written)).toBe(
      'True Succeeded Ready; rule r fails at once',
    );
  });

  it('notes kinds that nothing serves', () => {
    expect(
      readyMessage(record([configMaps]), { written: true, unknownKinds: ['Gadget'] } as typeof written),
    ).toBe('True Succeeded Ready; kinds that the API server does not serve: Gadget');
  });

  describe('of rules that act in the background', () => {
    const existing = (value: string) => ({
      ...configMaps,
      mutate: {
        targets: [{ apiVersion: 'v1', kind: 'Secret', name: 's', namespace: 'ns' }],
        patchStrategicMerge: { metadata: { labels: { a: value } } },
      },
    });
    const message = (background: BackgroundHealth, value = 'b') =>
      readyMessage(record([existing(value)]), { written: true, background } as typeof written);

    it('is Ready while somebody runs them and may', () => {
      expect(message({})).toBe('True Succeeded Ready');
    });

    it('notes that nobody runs them', () => {
      expect(message({ isAbsent: true })).toMatch(
        /^True Succeeded Ready; .* do not run: .kymera background. is not running/,
      );
    });

    it('is not Ready when it may not be done, with what has to be added', () => {
      expect(message({ lacking: "'x' may not update secrets; to be added" })).toBe(
        "False Failed Not Ready: 'x' may not update secrets; to be added",
      );
    });

    it('notes what cannot be read, and what is not reconciled', () => {
      expect(message({ limited: "'x' may not get configmaps" }, "{{ random('[a-z]{3}') }}")).toBe(
        "True Succeeded Ready; 'x' may not get configmaps; a rule whose patch differs on each run is not reconciled",
      );
    });
  });
});

describe('the status of a MutatingPolicy', () => {
  const statusOf = (spec: JsonObject, status?: JsonObject, state: WebhookState = written) => {
    const catalog = createPolicyCatalog({ kinds: policyKinds, cel });
    const kind = policyKinds.find((each) => each.kind === 'MutatingPolicy');
    if (kind === undefined) throw new Error('no kind');
    const object = mutatingPolicyDocument('p', spec, { uid: 'u', generation: 2 });
    catalog.set(kind, 'p', status === undefined ? object : { ...object, status });
    const [found] = catalog.records();
    if (found === undefined) throw new Error('no record');
    return changedStatus(found, state, now);
  };
  const condition = {
    type: 'WebhookConfigured',
    status: 'True',
    reason: 'Succeeded',
    message: 'Ready',
    lastTransitionTime: '2026-03-04T05:06:07Z',
    observedGeneration: 2,
  };
  const ready = {
    conditionStatus: { conditions: [condition], message: 'Ready', ready: true },
    autogen: {},
    generated: false,
  };

  it('says whether the webhook is configured, where Kyverno says it', () => {
    expect(statusOf({})).toEqual(ready);
    expect(statusOf({}, ready)).toBeUndefined();
    expect(statusOf({}, undefined, { written: false })).toMatchObject({
      conditionStatus: { ready: false, conditions: [{ status: 'False', reason: 'Failed' }] },
    });
  });

  it('keeps what others wrote: conditions, and that a MutatingAdmissionPolicy was generated', () => {
    const other = { ...condition, type: 'RBACPermissionsGranted' };
    const before = { conditionStatus: { conditions: [other] }, generated: true };
    expect(statusOf({}, before)).toEqual({
      ...ready,
      conditionStatus: { ...ready.conditionStatus, conditions: [other, condition] },
      generated: true,
    });
  });

  it('says that the API server evaluates the policy, even if no server runs, or why not', () => {
    const admissionPolicy = { generated: true };
    expect(statusOf({}, undefined, { written: false, ended: true, admissionPolicy })).toMatchObject({
      conditionStatus: { ready: true, message: expect.stringContaining('as a MutatingAdmissionPolicy') },
      generated: true,
    });
    const refused = { generated: false, reason: 'something would be lost' };
    expect(statusOf({}, { generated: true }, { written: true, admissionPolicy: refused })).toMatchObject({
      conditionStatus: {
        ready: true,
        message: 'Ready; no MutatingAdmissionPolicy is generated: something would be lost',
      },
      generated: false,
    });
  });

  it('names the field of an invalid expression', () => {
    const status = statusOf({ matchConditions: [{ name: 'c', expression: '1' }] });
    expect(status).toMatchObject({
      conditionStatus: {
        ready: false,
        message: expect.stringContaining('/spec/matchConditions/0/expression: output is expected'),
      },
    });
  });
});
