import { describe, expect, it } from 'vitest';
import { manualClock } from '../clock.testing.ts';
import { createWorkQueue } from './work-queue.ts';

/** A queue whose work ends when the test says so. */
function held(workers: number) {
  const clock = manualClock();
  const begun: string[] = [];
  const ends = new Map<string, (delayMs?: number) => void>();
  const queue = createWorkQueue({
    workers,
    clock,
    run(key) {
      begun.push(key);
      return new Promise((resolve) => ends.set(key, resolve));
    },
  });
  const end = async (key: string, delayMs?: number) => {
    ends.get(key)?.(delayMs);
    await clock.settle();
  };
  return { clock, begun, queue, end };
}

describe('the work queue', () => {
  it('works on so many at a time', async () => {
    const { queue, begun, end } = held(2);
    queue.add('a', 'p');
    queue.add('b', 'q');
    queue.add('c', 'r');
    expect(begun).toEqual(['a', 'b']);
    await end('a');
    expect(begun).toEqual(['a', 'b', 'c']);
    expect(queue.running()).toBe(2);
  });

  it('has an item once, however often it is added', () => {
    const { queue } = held(1);
    for (let count = 0; count < 5; count++) queue.add('a', 'p');
    for (let count = 0; count < 5; count++) queue.add('b', 'p');
    expect(queue.waiting()).toBe(1);
  });

  it('works once more on what was added while it was being worked on', async () => {
    const { queue, begun, end } = held(1);
    queue.add('a', 'p');
    queue.add('a', 'p');
    queue.add('a', 'p');
    await end('a');
    await end('a');
    expect(begun).toEqual(['a', 'a']);
    expect(queue.running()).toBe(0);
  });

  it('lets groups take turns', async () => {
    const { queue, begun, end } = held(1);
    for (const key of ['p1', 'p2', 'p3', 'q1', 'q2', 'r1']) queue.add(key, key[0] ?? '');
    for (const key of ['p1', 'p2', 'q1', 'r1', 'p3']) await end(key);
    expect(begun.slice(1).map((key) => key[0])).toEqual(['p', 'q', 'r', 'p', 'q']);
  });

  it('leaves workers for others, whatever hangs', async () => {
    const { queue, begun, end } = held(4);
    for (let count = 0; count < 1_000; count++) queue.add(`hanging-${count}`, 'p');
    queue.add('other', 'q');
    expect(begun).toEqual(['hanging-0', 'hanging-1', 'other']);
    await end('other');
    expect(queue.running()).toBe(2);
  });

  it('tries again when the time has come, or sooner when it is added again', async () => {
    const { clock, queue, begun, end } = held(1);
    queue.add('a', 'p');
    await end('a', 1_000);
    await clock.pass(999);
    expect(begun).toEqual(['a']);
    await clock.pass(1);
    expect(begun).toEqual(['a', 'a']);
    await end('a', 1_000);
    queue.add('a', 'p');
    expect(begun).toHaveLength(3);
    await end('a');
    await clock.pass(5_000);
    expect(begun).toHaveLength(3);
  });

  it('forgets what is removed', async () => {
    const { clock, queue, begun, end } = held(1);
    queue.add('a', 'p');
    queue.add('b', 'p');
    queue.add('c', 'p', 100);
    queue.remove('b');
    queue.remove('c');
    await end('a');
    await clock.pass(200);
    expect(begun).toEqual(['a']);
    expect(queue.waiting()).toBe(0);
  });

  it('takes nothing up once it is stopped, and waits for what is under way', async () => {
    const { clock, queue, begun, end } = held(1);
    queue.add('a', 'p');
    queue.add('b', 'p');
    let ended = false;
    const stopped = queue.stop().then(() => {
      ended = true;
    });
    await clock.settle();
    expect(ended).toBe(false);
    await end('a', 10);
    await stopped;
    await clock.pass(100);
    expect(begun).toEqual(['a']);
  });
});
