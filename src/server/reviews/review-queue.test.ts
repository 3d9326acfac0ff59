import { describe, expect, it } from 'vitest';
import { type Steps, waitFor } from '../../engine/steps.ts';
import { createTurns, type QueuedReview } from './review-queue.ts';

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

function recorder() {
  const log: string[] = [];
  function* work(name: string, waiting?: Promise<unknown>): Steps<void> {
    log.push(`${name} 1`);
    yield waiting;
    log.push(`${name} 2`);
    yield;
    log.push(`${name} 3`);
  }
  return { log, work };
}

function review(steps: Steps<void>, options: Partial<QueuedReview> = {}): QueuedReview {
  return {
    steps,
    isLarge: false,
    shed: () => {
      throw new Error('shed');
    },
    ...options,
  };
}

describe('reviews that arrive together', () => {
  it('start in the next turn and advance step by step', async () => {
    const { log, work } = recorder();
    const turns = createTurns();
    turns.add(review(work('a')));
    turns.arrive(() => turns.add(review(work('b'))));
    expect(log).toEqual([]);
    await nextTurn();
    expect(log).toEqual(['a 1', 'b 1', 'a 2', 'b 2', 'a 3', 'b 3']);
  });

  it.each([
    ['fulfilled', (settle: PromiseWithResolvers) => settle.resolve()],
    ['rejected', (settle: PromiseWithResolvers) => settle.reject(new Error('no data'))],
  ])(
    'do not wait for one whose data is missing; it continues when its promise is %s',
    async (_how, settle) => {
      const { log, work } = recorder();
      const turns = createTurns();
      const data = promiseWithResolvers();
      turns.add(review(work('slow', data.promise)));
      turns.add(review(work('quick')));
      await nextTurn();
      expect(log).toEqual(['slow 1', 'quick 1', 'quick 2', 'quick 3']);
      settle(data);
      await data.promise.catch(() => undefined);
      await nextTurn();
      expect(log.slice(4)).toEqual(['slow 2', 'slow 3']);
    },
  );

  it('that are large come one per turn', () => {
    const { turns, takeTurn } = timedTurns();
    const log: string[] = [];
    function* large(name: string): Steps<void> {
      log.push(name);
      yield;
    }
    for (const name of ['a', 'b', 'c']) turns.add(review(large(name), { isLarge: true }));
    turns.add(review(large('small')));
    takeTurn();
    expect(log).toEqual(['small', 'a']);
    takeTurn();
    expect(log).toEqual(['small', 'a', 'b']);
  });

  it('need no further turn when all are answered', () => {
    const { turns, arrive, counts, takeTurn, isIdle } = timedTurns();
    turns.arrive(() => arrive(2, 1));
    takeTurn();
    expect(counts.answered).toBe(2);
    expect(isIdle()).toBe(true);
  });

  it('get a further turn when one arrives while others are answered, also when a turn fails', () => {
    const { turns, arrive, counts, takeTurn } = timedTurns();
    turns.arrive(() => {
      turns.arrive(() => arrive(1, 1));
      throw new Error('a bug');
    });
    expect(takeTurn).toThrow('a bug');
    takeTurn();
    expect(counts.answered).toBe(1);
  });
});

/** Turns with a clock that only reviews advance. A test starts each turn. */
function timedTurns() {
  let time = 0;
  let scheduled: (() => void) | undefined;
  const turns = createTurns({
    now: () => time,
    schedule: (turn) => {
      scheduled = turn;
    },
  });
  const counts = { answered: 0, shed: 0, longestWait: 0 };
  function* work(arrivedAt: number, milliseconds: number): Steps<void> {
    time += milliseconds;
    yield;
    counts.answered += 1;
    counts.longestWait = Math.max(counts.longestWait, time - arrivedAt);
  }
  return {
    turns,
    counts,
    pass: (milliseconds: number) => {
      time += milliseconds;
    },
    arrive(count: number, milliseconds: number, isLarge = false) {
      for (let index = 0; index < count; index += 1) {
        const shed = () => {
          counts.shed += 1;
        };
        turns.add({ steps: work(time, milliseconds), isLarge, shed });
      }
    },
    /** Returns the milliseconds that it took. */
    takeTurn(): number {
      const startedAt = time;
      const turn = scheduled;
      scheduled = undefined;
      turn?.();
      return time - startedAt;
    },
    isIdle: () => scheduled === undefined,
    now: () => time,
  };
}

describe('more reviews than can be answered', () => {
  /** Each turn, ten times as many arrive as can be answered in the time of the last turn. */
  function overload(milliseconds: number, isLarge: boolean) {
    const timed = timedTurns();
    timed.arrive(20, milliseconds, isLarge);
    let owed = 0;
    const lengths: number[] = [];
    for (let turn = 0; turn < 2_000; turn += 1) {
      const elapsed = timed.takeTurn();
      owed += (elapsed / milliseconds) * 10;
      timed.arrive(Math.floor(owed), milliseconds, isLarge);
      owed %= 1;
      lengths.push(timed.turns.queueLength);
    }
    return { ...timed, lengths };
  }

  it.each([
    ['quick', 0.2, false],
    ['usual', 2, false],
    ['slow', 15, false],
    ['large', 25, true],
  ])('are shed at once, and those answered are answered within a second: %s', (_name, cost, isLarge) => {
    const { counts, lengths } = overload(cost, isLarge);
    expect(counts.longestWait).toBeLessThan(1_000);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(1_000);
    // The server does nothing else than answering: a tenth of those that arrive.
    expect(counts.shed / counts.answered).toBeGreaterThan(7);
    expect(counts.answered).toBeGreaterThan(1_000);
  });

  it('are accepted again as soon as the queue is answered', () => {
    const { counts, takeTurn, isIdle, arrive, turns } = overload(2, false);
    let milliseconds = 0;
    while (!isIdle()) milliseconds += takeTurn();
    expect(milliseconds).toBeLessThan(1_000);
    const { shed } = counts;
    arrive(100, 2);
    expect(counts.shed).toBe(shed);
    expect(turns.queueLength).toBe(100);
  });

  it('are shed when reviews turn out to be slower than before', () => {
    const { counts, arrive, takeTurn, isIdle } = timedTurns();
    for (let count = 0; count < 1_000; count += 10) {
      arrive(10, 0.2);
      takeTurn();
    }
    arrive(600, 20);
    expect(counts.shed).toBe(0);
    while (!isIdle()) takeTurn();
    expect(counts.shed).toBeGreaterThan(500);
    expect(counts.longestWait).toBeLessThan(1_000);
    expect(counts.answered + counts.shed).toBe(1_600);
  });

  it('are delayed by other work between turns too', () => {
    const { counts, arrive, pass, takeTurn } = timedTurns();
    for (let turn = 0; turn < 500; turn += 1) {
      arrive(100, 0.5);
      takeTurn();
      pass(80);
    }
    expect(counts.longestWait).toBeLessThan(1_000);
    expect(counts.shed).toBeGreaterThan(10_000);
  });

  it('leave time for those that are answered, even when receiving and shedding them could take all of it', () => {
    const { turns, counts, pass, arrive, takeTurn, now } = timedTurns();
    const [milliseconds, reading, shedding, perMillisecond] = [1.5, 0.08, 0.06, 7];
    let owed = 20;
    while (now() < 20_000) {
      const startedAt = now();
      for (; owed >= 1; owed -= 1) {
        pass(reading);
        turns.arrive(() => {
          pass(shedding);
          arrive(1, milliseconds);
        });
      }
      takeTurn();
      // Callers have at most 600 reviews in flight.
      owed = Math.min(600, owed + (now() - startedAt) * perMillisecond);
    }
    expect((counts.answered * milliseconds) / now()).toBeGreaterThan(0.15);
    expect(counts.longestWait).toBeLessThan(1_000);
  });

  it('let the event loop turn every 20 ms', () => {
    const { arrive, takeTurn, isIdle } = timedTurns();
    arrive(200, 1);
    const elapsed: number[] = [];
    while (!isIdle()) elapsed.push(takeTurn());
    // The first batch starts before anything is known about reviews.
    expect(Math.max(...elapsed.slice(1))).toBeLessThanOrEqual(40);
    expect(elapsed.length).toBeGreaterThan(4);
  });
});

describe('a burst that can be answered in time', () => {
  it.each([
    ['with a single slow review', (timed: ReturnType<typeof timedTurns>) => timed.arrive(1, 500)],
    [
      'during a pause of the process',
      (timed: ReturnType<typeof timedTurns>) => {
        timed.arrive(100, 0.5);
        timed.takeTurn();
        timed.pass(3_000);
      },
    ],
  ])('is not shed %s', (_name, before) => {
    const timed = timedTurns();
    before(timed);
    timed.arrive(128, 1);
    timed.pass(3_000);
    while (!timed.isIdle()) timed.takeTurn();
    expect(timed.counts.shed).toBe(0);
  });
});

describe('a backlog of small and large reviews', () => {
  it('is answered without shedding either when no more arrive than are answered', () => {
    const { arrive, takeTurn, counts, turns } = timedTurns();
    const arriveMixed = (rounds: number) => {
      for (let round = 0; round < rounds; round += 1) {
        arrive(15, 0.2);
        arrive(1, 2, true);
      }
    };
    arriveMixed(12);
    let rounds = 0;
    for (let turn = 0; turn < 500; turn += 1) {
      const before = counts.answered;
      takeTurn();
      const answered = Math.floor((counts.answered - before) / 16);
      arriveMixed(answered);
      rounds += answered;
    }
    expect(counts.shed).toBe(0);
    expect(turns.queueLength).toBeGreaterThan(50);
    expect(rounds).toBeGreaterThan(500);
  });
});

describe('waitFor', () => {
  it('returns the value of the promise, or throws its error', async () => {
    const outcomes: unknown[] = [];
    function* work(promise: Promise<unknown>): Steps<void> {
      try {
        outcomes.push(yield* waitFor(promise));
      } catch (error) {
        outcomes.push(error);
      }
    }
    const turns = createTurns();
    const error = new Error('lost');
    turns.add(review(work(nextTurn().then(() => 1))));
    turns.add(
      review(
        work(
          nextTurn().then(() => {
            throw error;
          }),
        ),
      ),
    );
    while (outcomes.length < 2) await nextTurn();
    expect(outcomes).toEqual([1, error]);
  });
});

interface PromiseWithResolvers {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

function promiseWithResolvers(): PromiseWithResolvers {
  let settle: Pick<PromiseWithResolvers, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, resolve: () => settle?.resolve(), reject: (error) => settle?.reject(error) };
}
