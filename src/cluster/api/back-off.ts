export interface BackOffLimits {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The delay after a number of consecutive failures: it doubles, with jitter between half and the full delay. */
export function backOffMs(
  failures: number,
  { firstMs, lastMs }: BackOffLimits,
  random: () => number = Math.random,
): number {
  if (failures <= 0) return 0;
  const full = Math.min(lastMs, firstMs * 2 ** Math.min(failures - 1, 20));
  return full / 2 + (full / 2) * random();
}

/** Resolves after the time, or immediately when the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
