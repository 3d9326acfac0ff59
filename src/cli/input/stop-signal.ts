import type { Io } from '../io.ts';

/** Resolves on SIGTERM or SIGINT, or when the caller aborts. */
export function stopSignal({ signal }: Io): Promise<void> {
  return new Promise((resolve) => {
    const keepAlive = setInterval(() => undefined, 60_000);
    const stop = () => {
      clearInterval(keepAlive);
      process.off('SIGTERM', stop).off('SIGINT', stop);
      resolve();
    };
    if (signal?.aborted === true) return stop();
    signal?.addEventListener('abort', stop, { once: true });
    process.once('SIGTERM', stop).once('SIGINT', stop);
  });
}
