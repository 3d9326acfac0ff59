import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { silentLog } from '../settings/cluster-options.ts';
import { checkPolicySelector, isOfKyverno, startPolicySelection } from './selection.ts';

const policy = (group: string, labels: JsonObject = {}): JsonObject => ({
  apiVersion: `${group}/v1`,
  kind: 'ClusterPolicy',
  metadata: { name: 'p', labels },
});
const configuration = (name: string, labels: JsonObject = {}): JsonObject => ({ metadata: { name, labels } });

/** A cluster with these webhook configurations, which then stay as they are. */
function clusterWith(configurations: readonly JsonObject[]): ApiClient {
  return {
    list: async () => ({ items: configurations, resourceVersion: '1' }),
    watch: () => new Promise(() => {}),
  } as unknown as ApiClient;
}

async function selectionIn(configurations: readonly JsonObject[], selector?: string) {
  const selection = startPolicySelection({
    client: clusterWith(configurations),
    onChange: () => {},
    log: silentLog,
    ...(selector === undefined ? {} : { selector }),
  });
  await selection.informer.synced;
  return selection;
}

const kyverno = configuration('kyverno-resource-mutating-webhook-cfg');

describe('the selection of policies', () => {
  it('takes all policies if Kyverno is not installed', async () => {
    const selection = await selectionIn([configuration('kymera-resource-mutation')]);
    expect(selection.selects(policy('kyverno.io'))).toBe(true);
    expect(selection.selects(policy('kymera.io'))).toBe(true);
    expect(selection.isKyvernoInstalled()).toBe(false);
  });

  it('takes only kymera.io policies if Kyverno is installed', async () => {
    const selection = await selectionIn([kyverno]);
    expect(selection.selects(policy('kyverno.io'))).toBe(false);
    expect(selection.selects(policy('kymera.io'))).toBe(true);
    expect(selection.selects(policy('policy.nirmata.io'))).toBe(true);
    expect(selection.isKyvernoInstalled()).toBe(true);
  });

  it('follows the label selector, whether Kyverno is installed or not', async () => {
    for (const there of [[], [kyverno]]) {
      const selection = await selectionIn(there, 'engine=kymera,!off');
      expect(selection.selects(policy('kyverno.io', { engine: 'kymera' }))).toBe(true);
      expect(selection.selects(policy('kyverno.io', { engine: 'kymera', off: '' }))).toBe(false);
      expect(selection.selects(policy('kyverno.io'))).toBe(false);
      expect(selection.selects(policy('kymera.io'))).toBe(true);
    }
  });

  it('takes no kyverno.io policy before the webhook configurations are listed', () => {
    const client = { list: () => new Promise(() => {}) } as unknown as ApiClient;
    const selection = startPolicySelection({ client, onChange: () => {}, log: silentLog });
    expect(selection.selects(policy('kyverno.io'))).toBe(false);
    void selection.informer.stop();
  });
});

describe('webhooks of Kyverno', () => {
  it.each([
    [configuration('kyverno-policy-mutating-webhook-cfg'), true],
    [configuration('kyverno-verify-mutating-webhook-cfg-debug'), true],
    [configuration('other', { 'webhook.kyverno.io/managed-by': 'kyverno' }), true],
    [configuration('kymera-resource-mutation'), false],
    [configuration('kyverno-dashboard'), false],
  ])('%j: %s', (object, expected) => {
    expect(isOfKyverno(object)).toBe(expected);
  });
});

describe('a selector', () => {
  it.each(['', 'a in', 'a=b,,c', 'Not a label=x'])('%j is refused', (selector) => {
    expect(() => checkPolicySelector(selector)).toThrow();
  });
});
