import type { Clock } from '../clock.ts';
import type { RequestLedger } from './request-ledger.ts';
import { isOpen, type UpdateRequest, type UpdateStatus, updateRequestName } from './update-request.ts';
import { createWorkQueue } from './work-queue.ts';

/** What became of a request that was run. */
export type RunResult =
  | { readonly state: 'Completed' | 'Skip'; readonly message: string }
  /** Permanent: trying again is of no use. */
  | { readonly state: 'Failed'; readonly message: string; readonly permanent?: boolean | undefined }
  /** It is too early to say: look again after so long. */
  | { readonly state: 'wait'; readonly ms: number };

export interface ControllerOptions {
  readonly ledger: RequestLedger;
  readonly clock: Clock;
  /** Does the work. Asks `isActive` before each write: another may have taken over. */
  run(request: UpdateRequest, isActive: () => boolean): Promise<RunResult>;
  /** So many UpdateRequests may exist. */
  threshold(): number;
  readonly limits?: Partial<ControllerLimits> | undefined;
  onResult?(request: UpdateRequest, status: UpdateStatus): void;
  onError?(what: string, error: unknown): void;
}

export interface ControllerLimits {
  readonly workers: number;
  /** How long what is done stays to be seen. */
  readonly ttlMs: number;
  readonly deadLetterTtlMs: number;
  /** A failed request is tried so many times more. */
  readonly retries: number;
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
}

export interface Controller {
  /** An UpdateRequest is new, changed or gone. */
  changed(name: string): void;
  waiting(): number;
  running(): number;
  /** Resolves when nothing is being worked on. */
  stop(): Promise<void>;
}

const defaultLimits: ControllerLimits = {
  workers: 10,
  ttlMs: 60_000,
  deadLetterTtlMs: 24 * 3_600_000,
  retries: 6,
  firstRetryMs: 1_000,
  lastRetryMs: 60_000,
};
/** Of what may exist, this part at most is what failed for good; and from this part on what is done goes at once. */
const deadLetterShare = 0.1;
const crowdedShare = 0.5;
const tidyEveryMs = 1_000;
const ledgerAwayMs = 1_000;

/** Takes up what is open, tries again what failed, and clears up. For one replica at a time. */
export function startController(options: ControllerOptions): Controller {
  const { ledger, clock, run, threshold, onResult, onError } = options;
  const limits = { ...defaultLimits, ...options.limits };
  /** The marks of those that are being worked on: what is written about them is no news. */
  const underWay = new Map<string, string>();
  let active = true;
  const queue = createWorkQueue({
    workers: limits.workers,
    clock,
    run: (name) =>
      handle(name)
        .catch((error: unknown) => {
          onError?.(name, error);
          return ledgerAwayMs;
        })
        .finally(() => underWay.delete(name)),
  });

  async function handle(name: string): Promise<number | undefined> {
    const request = ledger.get(name);
    if (request === undefined || !isOpen(request) || !active) return undefined;
    underWay.set(name, request.requestToken);
    const result = isSuperseded(request)
      ? ({ state: 'Skip', message: 'the trigger was deleted since' } as const)
      : await runSafely(request);
    if (result.state === 'wait') return result.ms;
    if (!active) return undefined;
    return finish(request, result);
  }

  async function runSafely(request: UpdateRequest): Promise<RunResult> {
    try {
      return await run(request, () => active);
    } catch (error) {
      onError?.(request.name, error);
      return { state: 'Failed', message: error instanceof Error ? error.message : String(error) };
    }
  }

  /** What a trigger was created or updated for is void once the same rule is run for its deletion. */
  function isSuperseded(request: UpdateRequest): boolean {
    const { operation, trigger, cause } = request;
    if (cause !== 'admission' || operation === 'DELETE' || trigger.uid === undefined) return false;
    return ledger.has(updateRequestName({ ...request, operation: 'DELETE' }));
  }

  async function finish(
    request: UpdateRequest,
    result: Exclude<RunResult, { state: 'wait' }>,
  ): Promise<number | undefined> {
    const isFailed = result.state === 'Failed';
    // An earlier request of the same name may have failed: that says nothing of this one.
    const before = request.status.requestToken === request.requestToken ? request.status.retryCount : 0;
    const retryCount = isFailed ? before + 1 : before;
    const deadLetter = isFailed && (result.permanent === true || retryCount > limits.retries);
    const status: UpdateStatus = {
      state: result.state,
      message: result.message,
      retryCount,
      requestToken: request.requestToken,
      deadLetter,
      ...(isFailed && !deadLetter ? {} : { endedAt: clock.now() }),
    };
    if (!isFailed && isCrowded()) {
      // Nobody would have time to look at it. One that a later request has replaced stays, and comes up again.
      await ledger.remove(request);
      onResult?.(request, status);
      return undefined;
    }
    const after = await ledger.setStatus(request, status);
    // A later request has taken its place, or somebody deleted it: what is there now decides.
    if (after === undefined) return ledgerAwayMs / 10;
    onResult?.(request, status);
    if (isFailed && !deadLetter) return retryDelay(retryCount);
    await ledger.clearPayload(after);
    return undefined;
  }

  function isCrowded(): boolean {
    return ledger.count() > threshold() * crowdedShare;
  }

  function retryDelay(retryCount: number): number {
    return Math.min(limits.lastRetryMs, limits.firstRetryMs * 2 ** (retryCount - 1));
  }

  function changed(name: string): void {
    const request = ledger.get(name);
    if (request === undefined) queue.remove(name);
    else if (isOpen(request) && underWay.get(name) !== request.requestToken)
      queue.add(name, request.policy, dueIn(request));
  }

  /** One that failed under an earlier leader keeps its pace. */
  function dueIn({ status, requestToken }: UpdateRequest): number {
    const isRetry = status.state === 'Failed' && status.requestToken === requestToken;
    return isRetry ? retryDelay(status.retryCount) : 0;
  }

  async function tidy(): Promise<void> {
    const ended = ledger
      .all()
      .filter((request) => !isOpen(request))
      .sort((left, right) => (left.status.endedAt ?? 0) - (right.status.endedAt ?? 0));
    const dead = ended.filter(({ status }) => status.deadLetter);
    const done = ended.filter(({ status }) => !status.deadLetter);
    const isOld = (ttlMs: number) => (request: UpdateRequest) =>
      clock.now() - (request.status.endedAt ?? 0) >= ttlMs;
    const tooMany = Math.max(0, dead.length - Math.max(1, Math.floor(threshold() * deadLetterShare)));
    const remove = [
      ...(isCrowded() ? done : done.filter(isOld(limits.ttlMs))),
      ...dead.filter((request, index) => index < tooMany || isOld(limits.deadLetterTtlMs)(request)),
    ];
    await inBatches(remove, (request) => ledger.remove(request));
  }

  async function inBatches<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
    for (let start = 0; start < items.length && active; start += limits.workers) {
      await Promise.all(items.slice(start, start + limits.workers).map(act));
    }
  }

  let cancelTidy = () => {};
  let tidying = Promise.resolve();
  function tidyRegularly(): void {
    cancelTidy = clock.after(tidyEveryMs, () => {
      tidying = tidy()
        .catch((error: unknown) => onError?.('tidying up', error))
        .then(() => {
          if (active) tidyRegularly();
        });
    });
  }

  const oldestFirst = [...ledger.all()].sort((left, right) => left.createdAt - right.createdAt);
  for (const { name } of oldestFirst) changed(name);
  tidyRegularly();
  return {
    changed,
    waiting: () => queue.waiting(),
    running: () => queue.running(),
    async stop() {
      active = false;
      cancelTidy();
      await Promise.all([queue.stop(), tidying]);
    },
  };
}
