import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DataAnswer, DataQuery, DataSource } from '../engine/context/data-source.ts';
import { withDeadline } from './deadline.ts';

const query = { type: 'configMap', name: 'settings', namespace: 'shop' } as unknown as DataQuery;
const found: DataAnswer = { found: true, value: 1 };
const late = { found: false, reason: 'no answer before the deadline' };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A source that answers after so many milliseconds. */
function sourceAfter(milliseconds: number, answer: DataAnswer = found): DataSource {
  return { read: () => new Promise((resolve) => setTimeout(() => resolve(answer), milliseconds)) };
}

describe('a deadline', () => {
  it('ends the wait for data that never comes, and not before', async () => {
    const answers: DataAnswer[] = [];
    const never: DataSource = { read: () => new Promise(() => undefined) };
    void Promise.resolve(withDeadline(never, 900).read(query)).then((answer) => answers.push(answer));
    await vi.advanceTimersByTimeAsync(899);
    expect(answers).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(answers).toMatchObject([late]);
  });

  it('is shared by all reads of a request', async () => {
    const bounded = withDeadline(sourceAfter(600), 900);
    const first = bounded.read(query);
    await vi.advanceTimersByTimeAsync(600);
    expect(await first).toBe(found);
    const second = bounded.read(query);
    await vi.advanceTimersByTimeAsync(300);
    expect(await second).toMatchObject(late);
  });

  it('replaces the error of a source that gives up at the deadline', async () => {
    const answer = withDeadline(sourceAfter(900, { found: false, error: 'aborted' }), 900).read(query);
    await vi.advanceTimersByTimeAsync(900);
    expect(await answer).toMatchObject(late);
  });
});
