/** The clock of the controllers: the system clock, or one that a test controls. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once after this delay. Returns a function that cancels the timer. */
  after(ms: number, act: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, act) {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
};

export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}
