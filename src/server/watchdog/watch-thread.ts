/** Indexes in `numbers`. */
export const layout = { turn: 0, rule: 1, limit: 2, namespaceLength: 3 } as const;

/** Memory that both threads share. */
export interface SharedState {
  readonly numbers: Int32Array;
  /** The namespace of the object under review, in UTF-8. */
  readonly namespace: Uint8Array;
}

export interface WatchThreadData extends SharedState {
  readonly layout: typeof layout;
  /** Where blockages are stored. */
  readonly file: string;
  /** For blockages outside reviews. */
  readonly idleLimitMilliseconds: number;
}

const namespaceSize = 256;

export function createSharedState(): SharedState {
  return {
    numbers: new Int32Array(new SharedArrayBuffer(4 * Object.keys(layout).length)),
    namespace: new Uint8Array(new SharedArrayBuffer(namespaceSize)),
  };
}

/** Sent for each rule before it first runs. */
export interface RuleNames {
  readonly id: number;
  readonly policy: string;
  readonly rule: string;
  readonly fingerprint: string;
}

/**
 * Runs in a thread of its own. Ends the process when the event loop of the main thread has not turned for longer than a review
 * may take. Only SIGKILL ends a process whose main thread never returns.
 *
 * The function is passed to the thread as source code, so it must not refer to anything outside.
 */
export function watchMainThread(): void {
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
  const { appendFileSync, writeSync } = process.getBuiltinModule('node:fs');
  const { randomUUID } = process.getBuiltinModule('node:crypto');
  const { numbers, namespace, layout, file, idleLimitMilliseconds } = workerData as WatchThreadData;
  const rules = new Map<number, RuleNames>();
  parentPort?.on('message', (names: RuleNames) => rules.set(names.id, names));
  let turn = -1;
  let checkedAt = 0;
  let blockedMilliseconds = 0;
  setInterval(() => {
    const current = Atomics.load(numbers, layout.turn);
    const now = performance.now();
    // While the whole process is paused, this thread does not run either: such time does not count.
    blockedMilliseconds += Math.min(now - checkedAt, 1_000);
    checkedAt = now;
    if (current !== turn) {
      turn = current;
      blockedMilliseconds = 0;
      return;
    }
    const names = rules.get(Atomics.load(numbers, layout.rule));
    const limit = names === undefined ? idleLimitMilliseconds : Atomics.load(numbers, layout.limit);
    if (blockedMilliseconds < limit) return;
    const time = new Date().toISOString();
    // A copy: TextDecoder does not accept shared memory.
    const bytes = Uint8Array.from(namespace.subarray(0, Atomics.load(numbers, layout.namespaceLength)));
    const where =
      names === undefined
        ? {}
        : {
            policy: names.policy,
            rule: names.rule,
            fingerprint: names.fingerprint,
            namespace: new TextDecoder().decode(bytes),
          };
    const message = 'the event loop is blocked; the process ends';
    const line = {
      level: 'error',
      time,
      ...where,
      milliseconds: Math.round(blockedMilliseconds),
      msg: message,
    };
    try {
      writeSync(2, `${JSON.stringify(line)}\n`);
      if (names !== undefined)
        appendFileSync(file, `${JSON.stringify({ id: randomUUID(), time, ...where })}\n`, { mode: 0o600 });
    } finally {
      process.kill(process.pid, 'SIGKILL');
    }
  }, 100);
}
