import { afterEach, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from './client.ts';
import { startLeaderElection } from './leader-election.ts';

afterEach(() => {
  vi.useRealTimers();
});

const year = 365 * 86_400_000;

/** A Lease that another replica holds and, if configured, renews at each read. */
function heldLease(isRenewed: () => boolean) {
  let renewals = 0;
  const counts = { reads: 0, writes: 0 };
  const client = {
    get: async (): Promise<JsonObject> => {
      counts.reads += 1;
      if (isRenewed()) renewals += 1;
      const spec = { holderIdentity: 'other', leaseDurationSeconds: 1, renewTime: `renewal ${renewals}` };
      return { metadata: { name: 'lease', namespace: 'kymera' }, spec };
    },
    update: async (_type: unknown, object: JsonObject) => {
      counts.writes += 1;
      return object;
    },
  } as unknown as ApiClient;
  return { client, counts };
}

it.each([
  ['ahead', year],
  ['back', -year],
])('is not taken from a replica that renews it when the clock jumps a year %s', async (_way, jump) => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { client, counts } = heldLease(() => true);
  const election = startLeaderElection({
    client,
    namespace: 'kymera',
    name: 'lease',
    identity: 'own',
    onChange: () => undefined,
    timing: { retryMs: 2, renewDeadlineMs: 500, durationMs: 1_000 },
  });
  const reads = (count: number) => vi.waitFor(() => expect(counts.reads).toBeGreaterThan(count));
  await reads(3);
  vi.setSystemTime(Date.now() + jump);
  await reads(counts.reads + 20);
  expect([counts.writes, election.isLeader()]).toEqual([0, false]);
  await election.stop();
});

it('is taken when its holder does not renew it', async () => {
  const { client, counts } = heldLease(() => false);
  const election = startLeaderElection({
    client,
    namespace: 'kymera',
    name: 'lease',
    identity: 'own',
    onChange: () => undefined,
    timing: { retryMs: 5, renewDeadlineMs: 500, durationMs: 1_000 },
  });
  await vi.waitFor(() => expect(election.isLeader()).toBe(true), { timeout: 15_000 });
  expect(counts.writes).toBeGreaterThan(0);
  await election.stop();
});
