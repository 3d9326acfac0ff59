import { describe, expect, it } from 'vitest';
import { defaultRequestSettings } from '../../admission/policy-provider.ts';
import { createPolicySets } from '../../admission/policy-sets.ts';
import type { NewUpdateRequest } from '../../background/queue/update-request.ts';
import type { Submission, TriggerQueue } from '../../background/triggers/trigger-queue.ts';
import { emptyDataSource } from '../../engine/context/data-source.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { kinds, policy, rule } from '../policies/policy.testing.ts';
import { createTriggerReviewer, type ReviewedTrigger } from './trigger-reviewer.ts';

const existing = (more: JsonObject = {}, match = kinds('ConfigMap'), label = 'b') =>
  rule(match, {
    mutate: {
      targets: [{ apiVersion: 'v1', kind: 'Secret', name: 's', namespace: 'ns' }],
      patchStrategicMerge: { metadata: { labels: { a: label } } },
    },
    ...more,
  });
const labelled = policy('p', [existing()]);
const object = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'cm', namespace: 'ns', uid: 'u', resourceVersion: '8' },
  data: { key: 'new', secret: 'x' },
};
const old = {
  ...object,
  metadata: { ...object.metadata, resourceVersion: '7' },
  data: { key: 'old', secret: 'x' },
};
const review = (more: JsonObject = {}): JsonObject => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'request-1',
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    name: 'cm',
    namespace: 'ns',
    operation: 'UPDATE',
    userInfo: { username: 'eve', groups: ['dev'] },
    object,
    oldObject: old,
    options: { fieldManager: 'kubectl' },
    ...more,
  },
});

async function taken(
  policies: readonly CompiledPolicy[],
  body: JsonObject = review(),
  {
    answer = { outcome: 'written' } as Submission,
    isShared = true,
    set = 'fail' as 'fail' | 'ignore' | 'all',
  } = {},
) {
  const requests: NewUpdateRequest[] = [];
  const told: ReviewedTrigger[] = [];
  const queue: TriggerQueue = {
    async submit(request) {
      requests.push(request);
      return answer;
    },
    seen() {},
    waiting: () => 0,
    stop: async () => {},
  };
  const sets = createPolicySets(policies);
  const reviewer = createTriggerReviewer({
    policies: () => sets,
    settings: () => ({ ...defaultRequestSettings, resourceFilters: '[ConfigMap,filtered,*]' }),
    dataSource: emptyDataSource,
    environment: { now: () => new Date(0), random: () => 0 },
    queue,
    background: () => ({ username: 'background', isShared }),
    onTrigger: (trigger) => told.push(trigger),
  });
  const { response } = await reviewer(body, { set }, 5_000);
  return { requests, told, response };
}

describe('a review of a trigger', () => {
  it('stores a request with user and operation, but no object that can be read again', async () => {
    const { requests, response } = await taken([labelled]);
    expect(response).toEqual({ uid: 'request-1', allowed: true });
    expect(requests).toEqual([
      {
        type: 'mutate',
        policy: 'p',
        rule: 'rule',
        cause: 'admission',
        requestToken: 'request-1',
        operation: 'UPDATE',
        receivedAt: 0,
        trigger: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'cm', uid: 'u' },
        user: { info: { username: 'eve', groups: ['dev'] }, roles: [], clusterRoles: [] },
        oldVersion: '7',
        admission: {
          uid: 'request-1',
          kind: { group: '', version: 'v1', kind: 'ConfigMap' },
          resource: { group: '', version: 'v1', resource: 'configmaps' },
          name: 'cm',
          namespace: 'ns',
          options: { fieldManager: 'kubectl' },
        },
      },
    ]);
  });

  it('keeps of the old object what the rule reads', async () => {
    const reads = policy('p', [existing({}, kinds('ConfigMap'), '{{ request.oldObject.data.key }}')]);
    const { requests } = await taken([reads]);
    expect(requests[0]?.admission).toMatchObject({ oldObject: { data: { key: 'old' } } });
    expect(JSON.stringify(requests)).not.toContain('secret');
  });

  it.each<[string, JsonObject, readonly CompiledPolicy[]]>([
    ['a dry run', { dryRun: true }, [labelled]],
    [
      'a filtered object',
      { namespace: 'filtered', object: { ...object, metadata: { name: 'cm', namespace: 'filtered' } } },
      [labelled],
    ],
    ['another kind', {}, [policy('p', [existing({}, kinds('Pod'))])]],
    ['a deletion that no block lists', { operation: 'DELETE', object: null }, [labelled]],
    [
      'preconditions that do not hold',
      {},
      [policy('p', [existing({ preconditions: { all: [{ key: 'a', operator: 'Equals', value: 'b' }] } })])],
    ],
    [
      'a policy in audit mode',
      {},
      [policy('p', [existing()], { annotations: { 'kymera.io/mode': 'audit' } })],
    ],
    ['a policy of the other path', {}, [policy('p', [existing()], { spec: { failurePolicy: 'Ignore' } })]],
    ['a plain mutate rule', {}, [policy('p', [rule(kinds('ConfigMap'))])]],
  ])('leaves nothing for %s', async (_, more, policies) => {
    const { requests, response } = await taken(policies, review(more));
    expect(requests).toEqual([]);
    expect(response.allowed).toBe(true);
  });

  it('is ignored when the background controller made the request, unless the rule includes such requests', async () => {
    const own = review({
      userInfo: { username: 'background' },
      options: { fieldManager: 'kymera-background' },
    });
    expect((await taken([labelled], own)).requests).toEqual([]);
    const asks = policy('p', [existing({ skipBackgroundRequests: false })]);
    expect((await taken([asks], own)).requests).toHaveLength(1);
  });

  it('takes somebody who only shares the name of the background for somebody else', async () => {
    const shared = review({ userInfo: { username: 'background' } });
    expect((await taken([labelled], shared)).requests).toHaveLength(1);
    expect((await taken([labelled], shared, { isShared: false })).requests).toEqual([]);
  });

  it.each(['CREATE', 'UPDATE'])(
    'refuses a %s without a uid, which no API server sends',
    async (operation) => {
      const { uid: _, ...metadata } = object.metadata;
      const { requests, response } = await taken(
        [labelled],
        review({ operation, object: { ...object, metadata } }),
      );
      expect(requests).toEqual([]);
      expect(response).toMatchObject({
        allowed: true,
        warnings: [expect.stringContaining('no metadata.uid')],
      });
    },
  );

  it('never denies: a failed write is reported', async () => {
    const { response, told } = await taken([labelled], review(), {
      answer: { outcome: 'waiting', reason: 'the API server is away' },
    });
    expect(response).toEqual({
      uid: 'request-1',
      allowed: true,
      warnings: ['policy p.rule: the rule runs later: the API server is away'],
    });
    expect(told).toMatchObject([{ outcome: 'waiting', reason: 'the API server is away' }]);
  });

  it('never denies: a rule that fails is reported', async () => {
    const failing = policy('p', [
      existing({
        preconditions: { all: [{ key: '{{ request.object.data.none.x }}', operator: 'Equals', value: 'b' }] },
      }),
    ]);
    const { response, requests } = await taken([failing]);
    expect(requests).toEqual([]);
    expect(response.allowed).toBe(true);
  });

  it('ends what was generated for a trigger that is deleted', async () => {
    const generating = policy('g', [
      {
        name: 'make',
        match: kinds('ConfigMap'),
        generate: {
          apiVersion: 'v1',
          kind: 'Secret',
          name: 'made',
          namespace: 'ns',
          synchronize: true,
          data: { data: { a: 'b' } },
        },
      },
    ]);
    const { requests } = await taken([generating], review({ operation: 'DELETE', object: null }));
    expect(requests).toMatchObject([{ type: 'generate', operation: 'DELETE', deleteDownstream: true }]);
  });
});
