import { type BackOffLimits, backOffMs } from './back-off.ts';

export interface CoalescedTask {
  /** Runs the task soon. Calls before it starts are merged; a call while it runs makes it run once more. */
  trigger(): void;
  /** Resolves when nothing is running or scheduled. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

export interface TaskOptions {
  readonly delayMs?: number | undefined;
  readonly backOff?: BackOffLimits | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Called after each run with the number of consecutive failures; 0 after a success. */
  readonly onEnd?: ((failures: number) => void) | undefined;
}

/** Runs one at a time. A failed run is repeated with back-off until it succeeds. */
export function createCoalescedTask(run: () => Promise<void>, options: TaskOptions = {}): CoalescedTask {
  const { delayMs = 100, backOff = { firstMs: 1_000, lastMs: 30_000 }, onError, onEnd } = options;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isBusy = false;
  let again = false;
  let failures = 0;
  let stopped = false;
  let idleListeners: (() => void)[] = [];

  function schedule(ms: number): void {
    if (stopped) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      isBusy = true;
      running = attempt().finally(() => {
        running = undefined;
        isBusy = false;
        settle();
      });
    }, ms);
  }

  async function attempt(): Promise<void> {
    again = false;
    try {
      await run();
      failures = 0;
    } catch (error) {
      failures += 1;
      onError?.(error);
    }
    onEnd?.(failures);
  }

  function settle(): void {
    if (again) schedule(delayMs);
    else if (failures > 0) schedule(backOffMs(failures, backOff));
    if (timer !== undefined) return;
    for (const listener of idleListeners) listener();
    idleListeners = [];
  }

  return {
    trigger() {
      if (!isBusy) schedule(delayMs);
      else again = true;
    },
    idle() {
      if (timer === undefined && !isBusy) return Promise.resolve();
      return new Promise((resolve) => idleListeners.push(resolve));
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      timer = undefined;
      await running;
      settle();
    },
  };
}
