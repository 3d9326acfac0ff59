import { describe, expect, it } from 'vitest';
import { manualClock } from '../clock.testing.ts';
import type { RequestInbox } from '../queue/request-ledger.ts';
import { type NewUpdateRequest, updateRequestName } from '../queue/update-request.ts';
import { createTriggerQueue } from './trigger-queue.ts';

const trigger = (name: string, requestToken = name): NewUpdateRequest => ({
  type: 'mutate',
  policy: 'p',
  rule: 'r',
  cause: 'admission',
  requestToken,
  operation: 'CREATE',
  trigger: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name },
});

function world({ threshold = 1_000, capacity = 10_000 } = {}) {
  const clock = manualClock();
  const stored = new Map<string, NewUpdateRequest>();
  const dropped: string[] = [];
  const state = { refuses: '', largest: 0 };
  const inbox: RequestInbox = {
    count: () => stored.size,
    has: (name) => stored.has(name),
    async put(request) {
      await Promise.resolve();
      if (state.refuses !== '') throw new Error(state.refuses);
      stored.set(updateRequestName(request), request);
      state.largest = Math.max(state.largest, stored.size);
    },
  };
  const queue = createTriggerQueue({
    inbox,
    clock,
    threshold: () => threshold,
    capacity,
    onDrop: ({ trigger: { name } }, reason) => dropped.push(`${name}: ${reason}`),
  });
  return { clock, stored, dropped, state, queue };
}

describe('triggers', () => {
  it('are written at once', async () => {
    const { queue, stored } = world();
    expect(await queue.submit(trigger('a'), 1_000)).toEqual({ outcome: 'written' });
    expect(stored.size).toBe(1);
  });

  it('wait above the threshold until there is room, and never more exist', async () => {
    const { queue, stored, state, clock, dropped } = world({ threshold: 10 });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => queue.submit(trigger(`t${index}`), 1_000)),
    );
    expect(answers.filter(({ outcome }) => outcome === 'waiting')).toHaveLength(40);
    expect(stored.size).toBe(10);
    let done = 0;
    while (queue.waiting() > 0 || stored.size > 0) {
      const [name = ''] = stored.keys();
      if (stored.delete(name)) done += 1;
      queue.seen(name);
      await clock.pass(600);
    }
    expect(done).toBe(50);
    expect(state.largest).toBe(10);
    expect(dropped).toEqual([]);
  });

  describe('when the cache is behind', () => {
    /** A cache that sees a request only when the test adds it. */
    function lagging(threshold: number) {
      const clock = manualClock();
      const written: string[] = [];
      const cached = new Set<string>();
      const inbox: RequestInbox = {
        count: () => cached.size,
        has: (name) => cached.has(name),
        async put(request) {
          written.push(updateRequestName(request));
        },
      };
      const queue = createTriggerQueue({ inbox, clock, threshold: () => threshold, onDrop: () => undefined });
      return { clock, written, cached, queue };
    }

    it('never more are written, however long it takes', async () => {
      const { clock, written, cached, queue } = lagging(2);
      for (const name of ['a', 'b', 'c', 'd']) await queue.submit(trigger(name), 1_000);
      await clock.pass(9_000);
      expect(written).toHaveLength(2);
      const [first = '', second = ''] = written;
      for (const name of [first, second]) {
        cached.add(name);
        queue.seen(name);
      }
      await clock.pass(9_000);
      expect(written).toHaveLength(2);
      cached.delete(first);
      queue.seen(first);
      await clock.pass(600);
      expect(written).toHaveLength(3);
    });

    it('one that it sees only when it is gone makes room at once', async () => {
      const { clock, written, queue } = lagging(1);
      await queue.submit(trigger('a'), 1_000);
      await queue.submit(trigger('b'), 1_000);
      queue.seen(written[0] ?? '');
      await clock.pass(0);
      expect(written).toHaveLength(2);
    });

    it('one that it never sees makes room after ten seconds', async () => {
      const { clock, written, queue } = lagging(1);
      await queue.submit(trigger('a'), 1_000);
      await queue.submit(trigger('b'), 1_000);
      await clock.pass(10_001);
      expect(written).toHaveLength(2);
    });
  });

  it('for the same work take one place, above the threshold and in memory', async () => {
    const { queue, stored, clock } = world({ threshold: 1 });
    await queue.submit(trigger('a', 'first'), 1_000);
    expect(await queue.submit(trigger('a', 'second'), 1_000)).toEqual({ outcome: 'written' });
    await queue.submit(trigger('b', 'first'), 1_000);
    await queue.submit(trigger('b', 'second'), 1_000);
    expect(queue.waiting()).toBe(1);
    stored.clear();
    await clock.pass(1_000);
    expect([...stored.values()].map(({ requestToken }) => requestToken)).toEqual(['second']);
  });

  it('that do not fit into memory are dropped and reported', async () => {
    const { queue, dropped } = world({ threshold: 1, capacity: 2 });
    await queue.submit(trigger('stored'), 1_000);
    for (const name of ['a', 'b']) await queue.submit(trigger(name), 1_000);
    expect(await queue.submit(trigger('c'), 1_000)).toEqual({
      outcome: 'dropped',
      reason: 'too many triggers are waiting',
    });
    expect(dropped).toEqual(['c: too many triggers are waiting']);
  });

  it('that cannot be written are tried again, later each time', async () => {
    const { queue, stored, state, clock } = world();
    state.refuses = 'the API server is away';
    expect(await queue.submit(trigger('a'), 1_000)).toEqual({
      outcome: 'waiting',
      reason: 'the API server is away',
    });
    await clock.pass(5_000);
    expect(queue.waiting()).toBe(1);
    state.refuses = '';
    await clock.pass(10_000);
    expect(stored.size).toBe(1);
    expect(queue.waiting()).toBe(0);
  });

  it('that can never be written are dropped in the end', async () => {
    const { queue, state, clock, dropped } = world();
    state.refuses = 'forbidden';
    await queue.submit(trigger('a'), 1_000);
    await clock.pass(20 * 60_000);
    expect(dropped).toEqual(['a: forbidden']);
    expect(queue.waiting()).toBe(0);
  });

  it('that wait when the server stops are written while there is time', async () => {
    const { queue, stored, clock, dropped } = world({ threshold: 1 });
    await queue.submit(trigger('a'), 1_000);
    await queue.submit(trigger('b'), 1_000);
    stored.clear();
    const stopping = queue.stop(2_000);
    await clock.pass(3_000);
    await stopping;
    expect(stored.size).toBe(1);
    expect(dropped).toEqual([]);
    expect((await queue.submit(trigger('c'), 1_000)).outcome).toBe('dropped');
  });
});
