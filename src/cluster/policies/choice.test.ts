import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { checkPolicySelector, isOfKyverno, startPolicyChoice } from './choice.ts';

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

async function choiceIn(configurations: readonly JsonObject[], selector?: string) {
  const choice = startPolicyChoice({
    client: clusterWith(configurations),
    onChange: () => {},
    ...(selector === undefined ? {} : { selector }),
  });
  await choice.informer.synced;
  return choice;
}

const kyverno = configuration('kyverno-resource-mutating-webhook-cfg');

describe('the policies that are taken', () => {
  it('are all, where Kyverno is not', async () => {
    const choice = await choiceIn([configuration('kymera-resource-mutation')]);
    expect(choice.takes(policy('kyverno.io'))).toBe(true);
    expect(choice.takes(policy('kymera.io'))).toBe(true);
    expect(choice.isKyvernoThere()).toBe(false);
  });

  it('are those of kymera.io, where Kyverno is', async () => {
    const choice = await choiceIn([kyverno]);
    expect(choice.takes(policy('kyverno.io'))).toBe(false);
    expect(choice.takes(policy('kymera.io'))).toBe(true);
    expect(choice.takes(policy('policy.nirmata.io'))).toBe(true);
    expect(choice.isKyvernoThere()).toBe(true);
  });

  it('are chosen by labels, whether Kyverno is there or not', async () => {
    for (const there of [[], [kyverno]]) {
      const choice = await choiceIn(there, 'engine=kymera,!off');
      expect(choice.takes(policy('kyverno.io', { engine: 'kymera' }))).toBe(true);
      expect(choice.takes(policy('kyverno.io', { engine: 'kymera', off: '' }))).toBe(false);
      expect(choice.takes(policy('kyverno.io'))).toBe(false);
      expect(choice.takes(policy('kymera.io'))).toBe(true);
    }
  });

  it('are none of kyverno.io before the cluster was looked at', () => {
    const client = { list: () => new Promise(() => {}) } as unknown as ApiClient;
    const choice = startPolicyChoice({ client, onChange: () => {} });
    expect(choice.takes(policy('kyverno.io'))).toBe(false);
    void choice.informer.stop();
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
