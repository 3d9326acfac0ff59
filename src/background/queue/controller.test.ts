import { describe, expect, it } from 'vitest';
import { manualClock } from '../clock.testing.ts';
import { type ControllerLimits, type RunResult, startController } from './controller.ts';
import { memoryLedger } from './memory-ledger.testing.ts';
import { type NewUpdateRequest, type UpdateRequest, updateRequestName } from './update-request.ts';

const completed: RunResult = { state: 'Completed', message: 'done' };

const trigger = (name: string, more: Partial<NewUpdateRequest> = {}): NewUpdateRequest => ({
  type: 'mutate',
  policy: 'p',
  rule: 'r',
  cause: 'admission',
  requestToken: `${name}-1`,
  operation: 'CREATE',
  trigger: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name, uid: `uid-${name}` },
  admission: { uid: 'x', oldObject: { secret: 'value' } },
  ...more,
});

function world(
  run: (request: UpdateRequest, isActive: () => boolean) => Promise<RunResult> | RunResult,
  limits: Partial<ControllerLimits> = {},
  threshold = 1_000,
) {
  const clock = manualClock();
  const ledger = memoryLedger(clock);
  const ran: string[] = [];
  const start = () => {
    const controller = startController({
      ledger,
      clock,
      threshold: () => threshold,
      limits,
      async run(request, isActive) {
        ran.push(request.requestToken);
        return run(request, isActive);
      },
    });
    ledger.onChange((name) => controller.changed(name));
    return controller;
  };
  const statusOf = (request: NewUpdateRequest) => ledger.get(updateRequestName(request))?.status;
  return { clock, ledger, ran, start, statusOf };
}

describe('the controller', () => {
  it('takes up what was there before, oldest first, and what comes', async () => {
    const { ledger, clock, ran, start, statusOf } = world(() => completed);
    await ledger.put(trigger('a'));
    await clock.pass(1_000);
    await ledger.put(trigger('b'));
    start();
    await ledger.put(trigger('c'));
    await clock.settle();
    expect(ran).toEqual(['a-1', 'b-1', 'c-1']);
    expect(statusOf(trigger('a'))).toMatchObject({ state: 'Completed', message: 'done', retryCount: 0 });
  });

  it('clears the objects of what is done, and removes it after a while', async () => {
    const { ledger, clock, start } = world(() => completed, { ttlMs: 60_000 });
    start();
    await ledger.put(trigger('a'));
    await clock.settle();
    expect(ledger.all()[0]?.admission).toEqual({ uid: 'x' });
    await clock.pass(59_000);
    expect(ledger.count()).toBe(1);
    await clock.pass(3_000);
    expect(ledger.count()).toBe(0);
  });

  it('runs a request again that was replaced while it ran', async () => {
    let release = () => {};
    const { ledger, clock, ran, start, statusOf } = world(
      () =>
        new Promise((resolve) => {
          release = () => resolve(completed);
        }),
    );
    start();
    await ledger.put(trigger('a'));
    await clock.settle();
    await ledger.put(trigger('a', { requestToken: 'a-2' }));
    await ledger.put(trigger('a', { requestToken: 'a-3' }));
    release();
    await clock.pass(1_000);
    release();
    await clock.pass(1_000);
    expect(ran).toEqual(['a-1', 'a-3']);
    expect(statusOf(trigger('a'))).toMatchObject({ state: 'Completed', requestToken: 'a-3' });
  });

  it('runs a completed request again when it is added again', async () => {
    const { ledger, clock, ran, start } = world(() => completed);
    start();
    await ledger.put(trigger('a'));
    await clock.settle();
    await ledger.put(trigger('a', { requestToken: 'a-2' }));
    await clock.settle();
    expect(ran).toEqual(['a-1', 'a-2']);
  });

  it('tries again what failed, later each time, and keeps it as a dead letter in the end', async () => {
    const { ledger, clock, ran, start, statusOf } = world(() => ({ state: 'Failed', message: 'forbidden' }), {
      retries: 3,
      firstRetryMs: 1_000,
    });
    start();
    await ledger.put(trigger('a'));
    await clock.settle();
    expect(statusOf(trigger('a'))).toMatchObject({ state: 'Failed', message: 'forbidden', retryCount: 1 });
    expect(ledger.all()[0]?.admission['oldObject']).toBeDefined();
    await clock.pass(1_000 + 2_000 + 4_000);
    expect(ran).toHaveLength(4);
    await clock.pass(3_600_000);
    expect(ran).toHaveLength(4);
    expect(statusOf(trigger('a'))).toMatchObject({ state: 'Failed', deadLetter: true, retryCount: 4 });
    expect(ledger.all()[0]?.admission['oldObject']).toBeUndefined();
  });

  it('keeps few dead letters, the latest', async () => {
    const { ledger, clock, start } = world(
      () => ({ state: 'Failed', message: 'no', permanent: true }),
      {},
      50,
    );
    start();
    for (let count = 0; count < 20; count++) {
      await ledger.put(trigger(`t${count}`));
      await clock.pass(10);
    }
    await clock.pass(2_000);
    expect(ledger.all().map(({ trigger: { name } }) => name)).toEqual(['t15', 't16', 't17', 't18', 't19']);
  });

  it('removes what is done at once where it is crowded', async () => {
    const { ledger, clock, ran, start } = world(() => completed, {}, 10);
    start();
    for (let count = 0; count < 8; count++) await ledger.put(trigger(`t${count}`));
    await clock.settle();
    expect(ledger.count()).toBe(5);
    expect(ran).toHaveLength(8);
    await clock.pass(1_500);
    expect(ran).toHaveLength(8);
  });

  it('waits for what is not there yet', async () => {
    let looks = 0;
    const { ledger, clock, start, statusOf } = world(() => {
      looks += 1;
      return looks < 3 ? { state: 'wait', ms: 500 } : { state: 'Skip', message: 'it never came' };
    });
    start();
    await ledger.put(trigger('a'));
    await clock.settle();
    expect(statusOf(trigger('a'))?.state).toBe('Pending');
    await clock.pass(1_000);
    expect(statusOf(trigger('a'))).toMatchObject({ state: 'Skip', message: 'it never came' });
  });

  it('does not run for a trigger that was deleted since, when the same rule is run for that', async () => {
    const { ledger, clock, ran, start, statusOf } = world(() => completed);
    await ledger.put(trigger('a'));
    await ledger.put(trigger('a', { operation: 'DELETE', requestToken: 'a-deleted' }));
    start();
    await clock.settle();
    expect(ran).toEqual(['a-deleted']);
    expect(statusOf(trigger('a'))).toMatchObject({
      state: 'Skip',
      message: 'the trigger was deleted in the meantime',
    });
  });

  it('is not held up by a request that hangs', async () => {
    const { ledger, clock, start } = world(
      ({ policy }) => (policy === 'hangs' ? new Promise(() => {}) : completed),
      { workers: 4 },
    );
    start();
    for (let count = 0; count < 100; count++) await ledger.put(trigger(`h${count}`, { policy: 'hangs' }));
    for (let count = 0; count < 10; count++) await ledger.put(trigger(`t${count}`));
    await clock.settle();
    const done = ledger.all().filter(({ status }) => status.state === 'Completed');
    expect(done).toHaveLength(10);
  });

  it('reports what nobody expected as a failure of that request', async () => {
    const { ledger, clock, start, statusOf } = world(() => {
      throw new Error('a bug');
    });
    start();
    await ledger.put(trigger('a'));
    await clock.settle();
    expect(statusOf(trigger('a'))).toMatchObject({ state: 'Failed', message: 'a bug' });
  });

  it('writes nothing once it is stopped; the next one does all that was left', async () => {
    let release = () => {};
    const asked: boolean[] = [];
    const { ledger, clock, ran, start } = world((_, isActive) => {
      if (ran.length > 1) return completed;
      return new Promise((resolve) => {
        release = () => {
          asked.push(isActive());
          resolve(completed);
        };
      });
    });
    const first = start();
    await ledger.put(trigger('a'));
    const stopped = first.stop();
    release();
    await stopped;
    expect(asked).toEqual([false]);
    expect(ledger.all()[0]?.status.state).toBe('Pending');
    start();
    await clock.settle();
    expect(ledger.all()[0]?.status.state).toBe('Completed');
  });
});
