const longestTurnMs = 50;

/**
 * Returns a function to call between evaluations of a long loop. It lets timers and sockets have their turn: evaluations
 * that read only cached data never do, and a leader that does not renew its Lease loses it.
 */
export function createTurns(): () => Promise<void> {
  let startedAt = performance.now();
  return async () => {
    if (performance.now() - startedAt < longestTurnMs) return;
    await new Promise((resolve) => setTimeout(resolve));
    startedAt = performance.now();
  };
}
