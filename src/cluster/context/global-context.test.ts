import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { smallCluster } from '../api/served-kinds.testing.ts';
import { createGlobalContext, type GlobalContextState } from './global-context.ts';
import { globalContextProblems } from './global-context-check.ts';
import { changedEntryStatus } from './global-context-status.ts';

const entry = (spec: JsonObject): JsonObject => ({ metadata: { name: 'shared' }, spec });
const configMaps = { version: 'v1', resource: 'configmaps' };

describe('a GlobalContextEntry', () => {
  it.each<[JsonObject]>([
    [{ kubernetesResource: configMaps }],
    [{ kubernetesResource: { group: 'apps', version: 'v1', resource: 'deployments', namespace: 'a' } }],
    [{ apiCall: { urlPath: '/version' }, projections: [{ name: 'minor', jmesPath: 'minor' }] }],
    [
      {
        apiCall: {
          method: 'POST',
          data: [{ key: 'a', value: 1 }],
          service: { url: 'https://web.team.svc/x' },
          refreshInterval: '30s',
        },
      },
    ],
  ])('is accepted: %j', (spec) => {
    expect(globalContextProblems(entry(spec))).toEqual([]);
  });

  it.each<[JsonObject, readonly RegExp[]]>([
    [{}, [/^\/spec: .*found none$/]],
    [{ kubernetesResource: configMaps, apiCall: { urlPath: '/x' } }, [/^\/spec: .*found both$/]],
    [{ kubernetesResource: {} }, [/kubernetesResource\/version/, /kubernetesResource\/resource/]],
    [{ kubernetesResource: { version: 'v1beta1', resource: 'Pods' } }, [/group/, /lower case/]],
    [{ apiCall: {} }, [/^\/spec\/apiCall: .*found none$/]],
    [{ apiCall: { urlPath: 'x', service: {} } }, [/found both/, /begins with \//, /no URL/]],
    [
      { apiCall: { urlPath: '/x', data: [{ key: 'a', value: 1 }], refreshInterval: '0s', jmesPath: 'a[' } },
      [/POST only/, /above zero/, /does not parse/],
    ],
    [
      {
        kubernetesResource: configMaps,
        projections: [
          { name: 'shared', jmesPath: 'a' },
          { name: 'one', jmesPath: '' },
          { name: 'one', jmesPath: 'a b' },
          { jmesPath: 'a' },
        ],
      },
      [/entry itself/, /1\/jmesPath: it is missing/, /several called one/, /does not parse/, /3\/name/],
    ],
  ])('is refused with all its problems: %j', (spec, reasons) => {
    const problems = globalContextProblems(entry(spec));
    expect(problems).toHaveLength(reasons.length);
    reasons.forEach((reason, index) => {
      expect(problems[index]).toMatch(reason);
    });
  });
});

describe('its data', () => {
  const calls = (answers: Json[]) =>
    createGlobalContext({
      client: {} as ApiClient,
      kinds: () => smallCluster,
      environment: { now: () => new Date(0), random: () => 0 },
      call: async () => {
        const value = answers.shift();
        return value === undefined ? { found: false, error: 'it answered 503' } : { found: true, value };
      },
    });

  it('is there when the call is answered, with its projections', async () => {
    const context = calls([{ items: [1, 2] }]);
    context.set('shared', {
      ...entry({ apiCall: { urlPath: '/x', jmesPath: 'items' } }),
      metadata: { name: 'shared' },
    });
    expect(context.read('shared')).toMatchObject({ found: false });
    await expect.poll(() => context.read('shared')).toEqual({ found: true, value: [1, 2] });
    expect(context.states()).toMatchObject([{ ready: true, refreshedAt: expect.any(Number) }]);
    await context.stop();
  });

  it('is missing, with the reason, when the call fails, and when the entry cannot be used', async () => {
    const context = calls([]);
    context.set('failing', entry({ apiCall: { urlPath: '/x' } }));
    context.set('broken', entry({ apiCall: {} }));
    await expect
      .poll(() => context.read('failing'))
      .toEqual({
        found: false,
        error: 'it answered 503',
        reason: 'the GlobalContextEntry has no data',
      });
    expect(context.states()).toMatchObject([
      { ready: false, message: 'it answered 503' },
      { ready: false, message: expect.stringMatching(/cannot be used: \/spec\/apiCall: /) },
    ]);
    await context.stop();
  });
});

it('is readable from namespaced Policies only with an annotation', async () => {
  const context = createGlobalContext({
    client: {} as ApiClient,
    kinds: () => smallCluster,
    environment: { now: () => new Date(0), random: () => 0 },
    call: async () => ({ found: true, value: 1 }),
  });
  const shared = entry({ apiCall: { urlPath: '/x' } });
  context.set('shared', shared);
  await expect.poll(() => context.read('shared')).toEqual({ found: true, value: 1 });
  expect(context.read('shared', 'team')).toMatchObject({ found: false, denied: true });
  expect(context.read('shared.projection', 'team')).toMatchObject({ found: false, denied: true });
  context.set('shared', {
    ...shared,
    metadata: { name: 'shared', annotations: { 'kymera.io/allow-namespaced': 'true' } },
  });
  expect(context.read('shared', 'team')).toEqual({ found: true, value: 1 });
  context.set('shared', shared);
  expect(context.read('shared', 'team')).toMatchObject({ denied: true });
  await context.stop();
});

describe('its status', () => {
  const now = new Date('2030-01-01T00:10:00Z');
  const state = (more: Partial<GlobalContextState> = {}): GlobalContextState => ({
    object: entry({}),
    ready: true,
    message: 'the data is at hand',
    refreshedAt: Date.parse('2030-01-01T00:09:00Z'),
    ...more,
  });

  it('says whether data is there, since when, and of when it is', () => {
    expect(changedEntryStatus(state(), now)).toEqual({
      ready: true,
      lastRefreshTime: '2030-01-01T00:09:00Z',
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Succeeded',
          message: 'the data is at hand',
          lastTransitionTime: '2030-01-01T00:10:00Z',
        },
      ],
    });
  });

  it('is written only when it changed; of refreshes, not every one', () => {
    const object = { ...entry({}), status: changedEntryStatus(state(), now) ?? {} };
    const later = new Date('2030-01-01T00:11:00Z');
    expect(changedEntryStatus(state({ object }), later)).toBeUndefined();
    const soon = Date.parse('2030-01-01T00:09:30Z');
    expect(changedEntryStatus(state({ object, refreshedAt: soon }), later)).toBeUndefined();
    const long = Date.parse('2030-01-01T00:10:30Z');
    expect(changedEntryStatus(state({ object, refreshedAt: long }), later)).toMatchObject({
      lastRefreshTime: '2030-01-01T00:10:30Z',
    });
    expect(
      changedEntryStatus(state({ object, ready: false, message: 'gone' }), later)?.['conditions'],
    ).toMatchObject([{ status: 'False', message: 'gone', lastTransitionTime: '2030-01-01T00:11:00Z' }]);
  });
});
