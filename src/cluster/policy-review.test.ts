import { describe, expect, it } from 'vitest';
import { readObject } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';
import { loadCelCompilers } from '../policy/cel-documents.ts';
import type { ApiClient } from './api/client.ts';
import { createKindTable } from './api/discovery.ts';
import { createTimeBudget } from './policies/time-budget.ts';
import { createPolicyReviewer } from './policy-review.ts';

const cel = await loadCelCompilers();

const served = (group: string, kind: string, resource: string, namespaced = true) => ({
  group,
  version: 'v1',
  kind,
  resource,
  namespaced,
  verbs: ['create', 'update'],
  subresources: kind === 'Node' ? ['status'] : [],
});
const kinds = createKindTable([
  served('', 'ConfigMap', 'configmaps'),
  served('', 'Node', 'nodes', false),
  served('coordination.k8s.io', 'Lease', 'leases'),
  served('kyverno.io', 'ClusterPolicy', 'clusterpolicies', false),
  served('kyverno.io', 'UpdateRequest', 'updaterequests'),
  served(
    'admissionregistration.k8s.io',
    'MutatingWebhookConfiguration',
    'mutatingwebhookconfigurations',
    false,
  ),
]);
const review = createPolicyReviewer({
  client: {} as ApiClient,
  cel,
  kinds: () => kinds,
  exceptionNamespaces: [],
});

async function verdict(matched: readonly string[], { rules = 1, namespace = '' } = {}) {
  const { allowed, message, warnings } = await verdictOn({
    apiVersion: 'kyverno.io/v1',
    kind: namespace === '' ? 'ClusterPolicy' : 'Policy',
    metadata: { name: 'p', ...(namespace === '' ? {} : { namespace }) },
    spec: {
      rules: Array.from({ length: rules }, (_, index) => ({
        name: `r${index}`,
        match: { any: [{ resources: { kinds: [...matched] } }] },
        mutate: { patchStrategicMerge: { metadata: { labels: { a: 'b' } } } },
      })),
    },
  });
  return {
    allowed,
    message,
    warnings: warnings.filter((warning) => warning.startsWith('the policy matches')),
  };
}

async function verdictOn(object: JsonObject) {
  const answer = await review({
    request: { uid: '1', operation: 'CREATE', object },
  } as unknown as JsonObject);
  const response = readObject(answer, 'response') ?? {};
  const warnings = (response['warnings'] ?? []) as readonly string[];
  return {
    allowed: response['allowed'],
    message: String(readObject(response, 'status')?.['message'] ?? ''),
    warnings,
  };
}

describe('a review of a policy', () => {
  it('refuses the policies of a namespace that take too much time, and no others', async () => {
    let now = 0;
    const budget = createTimeBudget({ now: () => now, burstMs: 1_000, share: 0.1, leastMs: 600 });
    const limited = createPolicyReviewer({
      client: {} as ApiClient,
      cel,
      kinds: () => kinds,
      exceptionNamespaces: [],
      budget,
    });
    const send = async (namespace: string | undefined, old?: JsonObject) => {
      const metadata = { name: 'p', ...(namespace === undefined ? {} : { namespace }) };
      const object = { apiVersion: 'kyverno.io/v1', kind: 'Policy', metadata, spec: { rules: [] } };
      const request = { uid: '1', object, ...(old === undefined ? {} : { oldObject: old }) };
      const { response } = (await limited({ request })) as { response: JsonObject };
      return readObject(response, 'status')?.['code'] ?? 200;
    };
    const ownCode = await send('team');
    expect(ownCode).not.toBe(429);
    expect(await send('team')).toBe(ownCode);
    expect(await send('team')).toBe(429);
    expect(await send('other')).toBe(ownCode);
    expect(await send(undefined)).toBe(ownCode);
    // So that the policy can be deleted.
    expect(await send('team', { metadata: {}, spec: { rules: [] } })).toBe(200);
    now = 2_100;
    expect(await send('team')).toBe(ownCode);
  });

  it.each([
    ['Node', /matches nodes: .*nodes cannot join/],
    ['Node/status', /matches nodes: /],
    ['Lease', /matches leases\.coordination\.k8s\.io: .*leader election/],
    ['ClusterPolicy', /matches clusterpolicies\.kyverno\.io: .*cannot be fixed/],
    ['UpdateRequest', /matches updaterequests\.kyverno\.io: /],
    ['MutatingWebhookConfiguration', /never runs/],
  ])('warns when a ClusterPolicy matches %s', async (kind, message) => {
    const { allowed, warnings } = await verdict([kind]);
    expect(allowed).toBe(true);
    expect(warnings).toEqual([expect.stringMatching(message)]);
  });

  it.each([[['ConfigMap']], [['*']]])('does not warn about %j', async (matched) => {
    expect((await verdict(matched)).warnings).toEqual([]);
  });

  it('warns about rules that are not run', async () => {
    const rules = ['a', 'b', 'c', 'd'].map((name) => ({
      name,
      match: { any: [{ resources: { kinds: ['ConfigMap'] } }] },
      validate: { message: 'm', pattern: { data: { a: '?*' } } },
    }));
    const metadata = { name: 'p' };
    const policy = { apiVersion: 'kyverno.io/v1', kind: 'ClusterPolicy', metadata, spec: { rules } };
    expect(await verdictOn(policy)).toEqual({
      allowed: true,
      message: '',
      warnings: [
        '/spec/rules/0: no rule of this policy is run here: a (validate), b (validate), c (validate) and 1 more; keep Kyverno or a ValidatingAdmissionPolicy for them',
      ],
    });
  });

  it('warns about generated rules that fail on every object', async () => {
    const { allowed, warnings } = await verdictOn({
      apiVersion: 'kyverno.io/v1',
      kind: 'ClusterPolicy',
      metadata: { name: 'p' },
      spec: {
        rules: [
          {
            name: 'label-pods-with-their-own-name',
            match: { any: [{ resources: { kinds: ['Pod'] } }] },
            mutate: {
              patchStrategicMerge: { metadata: { labels: { name: '{{ request.object.metadata.name }}' } } },
            },
          },
        ],
      },
    });
    expect(allowed).toBe(true);
    const text = warnings.join('\n');
    expect(text).toContain(
      'the generated rule autogen-label-pods-with-their-own-name fails on every DaemonSet, ',
    );
    expect(text).toContain('pod-policies.kyverno.io/autogen-controllers: none');
    expect(Math.max(...warnings.map(({ length }) => length))).toBeLessThanOrEqual(256);
  });

  it('does not warn about a namespaced Policy, which applies only to its namespace', async () => {
    expect((await verdict(['Lease'], { namespace: 'team' })).warnings).toEqual([]);
  });

  it('refuses a policy that takes too long to compile, before it is compiled', async () => {
    const { allowed, message } = await verdict(['ConfigMap'], { rules: 4_000, namespace: 'team' });
    expect(allowed).toBe(false);
    expect(message).toMatch(
      /^\/spec\/rules: the policy has 4000 rules, more than 250, the limit of a server/,
    );
  });
});
