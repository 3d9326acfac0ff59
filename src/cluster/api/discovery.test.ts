import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Json, JsonObject } from '../../json/value.ts';
import type { ApiClient } from './client.ts';
import { startDiscovery } from './discovery.ts';
import { startKindRefresher } from './kind-refresher.ts';

interface Answer {
  readonly status: number;
  readonly body: Json;
}

function resource(name: string, kind: string): JsonObject {
  return { resource: name, responseKind: { kind }, scope: 'Cluster', verbs: ['list'], subresources: [] };
}

function listOf(groups: Readonly<Record<string, readonly JsonObject[]>>): Answer {
  const items = Object.entries(groups).map(([name, resources]) => ({
    metadata: { name },
    versions: [{ version: 'v1', resources }],
  }));
  return { status: 200, body: { kind: 'APIGroupDiscoveryList', items } };
}

const core = listOf({ '': [resource('pods', 'Pod')] });
const apps = { apps: [resource('deployments', 'Deployment')] };
const complete = listOf({ ...apps, 'kyverno.io': [resource('clusterpolicies', 'ClusterPolicy')] });
/** The list of an API server that has not yet read its CustomResourceDefinitions. */
const starting = listOf(apps);
const starts: Answer = { status: 503, body: { message: 'not all paths are installed' } };
const unknown: Answer = { status: 404, body: {} };
const policies: Answer = {
  status: 200,
  body: { groupVersion: 'kyverno.io/v1', resources: [{ name: 'clusterpolicies', kind: 'ClusterPolicy' }] },
};
const otherKinds: Answer = { status: 200, body: { groupVersion: 'kyverno.io/v1', resources: [] } };

async function discover(first: Answer) {
  const answers: Record<string, Answer> = { '/api': core, '/apis': first };
  const raw = vi.fn(async ({ path }: { readonly path: string }) => answers[path] ?? unknown);
  const discovery = await startDiscovery({ raw } as unknown as ApiClient);
  const changed = vi.fn();
  discovery.onChange(changed);
  const has = (kind: string) => discovery.current().resourceOf({ kind }) !== undefined;
  return { answers, discovery, changed, has };
}

describe('a kind that the API server no longer lists', () => {
  it.each([
    ['stays while the API server starts', starts, true],
    ['stays if its version is still served', policies, true],
    ['goes when its version is unknown', unknown, false],
    ['goes when its version has other kinds only', otherKinds, false],
  ])('%s', async (_title, answer, stays) => {
    const { answers, discovery, changed, has } = await discover(complete);
    answers['/apis'] = starting;
    answers['/apis/kyverno.io/v1'] = answer;
    expect(await discovery.refresh()).toBe(!stays);
    expect(has('ClusterPolicy')).toBe(stays);
    expect(has('Deployment')).toBe(true);
    expect(changed).toHaveBeenCalledTimes(stays ? 0 : 1);
    answers['/apis'] = complete;
    expect(await discovery.refresh()).toBe(true);
    expect(has('ClusterPolicy')).toBe(true);
  });
});

describe('the refresher', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('reads the kinds again until those of all definitions are served, then rests', async () => {
    const { answers, discovery, has } = await discover(starting);
    const reads = vi.spyOn(discovery, 'refresh');
    const refresher = startKindRefresher(discovery, { definitions: () => ['clusterpolicies.kyverno.io'] });
    refresher.soon();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(reads.mock.calls.length).toBeGreaterThan(6);
    expect(has('ClusterPolicy')).toBe(false);
    answers['/apis'] = complete;
    await vi.advanceTimersByTimeAsync(31_000);
    expect(has('ClusterPolicy')).toBe(true);
    reads.mockClear();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(reads.mock.calls.length).toBeLessThan(2);
    await refresher.stop();
  });

  it('reads the kinds again while the API server does not list what it serves', async () => {
    const { answers, discovery, changed } = await discover(complete);
    answers['/apis'] = starting;
    answers['/apis/kyverno.io/v1'] = starts;
    const reads = vi.spyOn(discovery, 'refresh');
    const refresher = startKindRefresher(discovery, { definitions: () => [] });
    refresher.soon();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(reads.mock.calls.length).toBeGreaterThan(4);
    expect(changed).not.toHaveBeenCalled();
    await refresher.stop();
    reads.mockClear();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(reads).not.toHaveBeenCalled();
  });
});
