import { describe, expect, it } from 'vitest';
import { type Steps, waitFor } from '../../engine/steps.ts';
import { createTurns } from './turns.ts';

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

describe('reviews that arrive together', () => {
  it('start in the next turn and advance step by step', async () => {
    const { log, work } = recorder();
    const turns = createTurns();
    turns.add(work('a'));
    turns.add(work('b'));
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
      turns.add(work('slow', data.promise));
      turns.add(work('quick'));
      await nextTurn();
      expect(log).toEqual(['slow 1', 'quick 1', 'quick 2', 'quick 3']);
      settle(data);
      await data.promise.catch(() => undefined);
      await nextTurn();
      expect(log.slice(4)).toEqual(['slow 2', 'slow 3']);
    },
  );

  it('that are large come one per turn', async () => {
    const turns = createTurns();
    const log: string[] = [];
    function* large(name: string): Steps<void> {
      yield turns.alone();
      log.push(name);
    }
    for (const name of ['a', 'b', 'c']) turns.add(large(name));
    const lengths: number[] = [];
    while (log.length < 3) {
      await nextTurn();
      lengths.push(log.length);
    }
    expect(log).toEqual(['a', 'b', 'c']);
    expect(lengths.every((length, index) => length - (lengths[index - 1] ?? 0) <= 1)).toBe(true);
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
    turns.add(work(nextTurn().then(() => 1)));
    turns.add(
      work(
        nextTurn().then(() => {
          throw error;
        }),
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
