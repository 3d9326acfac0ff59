import type { Clock } from '../clock.ts';
import type { RequestLedger } from './request-ledger.ts';
import { isOpen, type UpdateRequest, type UpdateStatus, updateRequestName } from './update-request.ts';
import { createWorkQueue } from './work-queue.ts';

/** The result of one run of an UpdateRequest. */
export type RunResult =
  | { readonly state: 'Completed' | 'Skip'; readonly message: string }
  /** Permanent failures are not retried. */
  | { readonly state: 'Failed'; readonly message: string; readonly permanent?: boolean | undefined }
  /** Not decided yet: run again after this delay. */
  | { readonly state: 'wait'; readonly ms: number };

export interface ControllerOptions {
  readonly ledger: RequestLedger;
  readonly clock: Clock;
  /** Runs a request. Calls `isActive` before each write: another replica may be the leader by now. */
  run(request: UpdateRequest, isActive: () => boolean): Promise<RunResult>;
  /** The maximum number of UpdateRequests. */
  threshold(): number;
  readonly limits?: Partial<ControllerLimits> | undefined;
  onResult?(request: UpdateRequest, status: UpdateStatus): void;
  onError?(what: string, error: unknown): void;
}

export interface ControllerLimits {
  readonly workers: number;
  /** How long finished requests are kept. */
  readonly ttlMs: number;
  readonly deadLetterTtlMs: number;
  /** How often a failed request is retried. */
  readonly retries: number;
  readonly firstRetryMs: number;
  readonly lastRetryMs: number;
}

export interface Controller {
  /** Reports that an UpdateRequest was created, changed or deleted. */
  changed(name: string): void;
  waiting(): number;
  running(): number;
  /** Resolves when no request is running. */
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
/** The share of the threshold that dead letters may use. */
const deadLetterShare = 0.1;
/** Above this share of the threshold, finished requests are deleted immediately. */
const nearLimitShare = 0.5;
const cleanUpIntervalMs = 1_000;
const ledgerRetryMs = 1_000;

/** Runs open requests, retries failed ones and deletes finished ones. Only the leader runs it. */
export function startController(options: ControllerOptions): Controller {
  const { ledger, clock, run, threshold, onResult, onError } = options;
  const limits = { ...defaultLimits, ...options.limits };
  /** Tokens of the requests that are running. Ignore our own status updates of these. */
  const inProgress = new Map<string, string>();
  let active = true;
  const queue = createWorkQueue({
    workers: limits.workers,
    clock,
    run: (name) =>
      handle(name)
        .catch((error: unknown) => {
          onError?.(name, error);
          return ledgerRetryMs;
        })
        .finally(() => inProgress.delete(name)),
  });

  async function handle(name: string): Promise<number | undefined> {
    const request = ledger.get(name);
    if (request === undefined || !isOpen(request) || !active) return undefined;
    inProgress.set(name, request.requestToken);
    const result = isSuperseded(request)
      ? ({ state: 'Skip', message: 'the trigger was deleted in the meantime' } as const)
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

  /** A create or update request is obsolete once the same rule runs for the deletion of the trigger. */
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
    // Retries of an earlier request with the same name do not count.
    const before = request.status.requestToken === request.requestToken ? request.status.retryCount : 0;
    const retryCount = isFailed ? before + 1 : before;
    const deadLetter = isFailed && (result.permanent === true || retryCount > limits.retries);
    const status: UpdateStatus = {
      state: result.state,
      message: result.message,
      retryCount,
      requestToken: request.requestToken,
      deadLetter,
      endedAt: isFailed && !deadLetter ? undefined : clock.now(),
    };
    if (!isFailed && isNearLimit()) {
      // `remove` keeps a request that a later one has replaced; it runs again.
      await ledger.remove(request);
      onResult?.(request, status);
      return undefined;
    }
    const after = await ledger.setStatus(request, status);
    // A later request replaced it, or somebody deleted it: read the current state again.
    if (after === undefined) return ledgerRetryMs / 10;
    onResult?.(request, status);
    if (isFailed && !deadLetter) return retryDelay(retryCount);
    await ledger.clearPayload(after);
    return undefined;
  }

  function isNearLimit(): boolean {
    return ledger.count() > threshold() * nearLimitShare;
  }

  function retryDelay(retryCount: number): number {
    return Math.min(limits.lastRetryMs, limits.firstRetryMs * 2 ** (retryCount - 1));
  }

  function changed(name: string): void {
    const request = ledger.get(name);
    if (request === undefined) queue.remove(name);
    else if (isOpen(request) && inProgress.get(name) !== request.requestToken)
      queue.add(name, request.policy, dueIn(request));
  }

  /** A request that failed under an earlier leader keeps its back-off. */
  function dueIn({ status, requestToken }: UpdateRequest): number {
    const isRetry = status.state === 'Failed' && status.requestToken === requestToken;
    return isRetry ? retryDelay(status.retryCount) : 0;
  }

  async function cleanUp(): Promise<void> {
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
      ...(isNearLimit() ? done : done.filter(isOld(limits.ttlMs))),
      ...dead.filter((request, index) => index < tooMany || isOld(limits.deadLetterTtlMs)(request)),
    ];
    await inBatches(remove, (request) => ledger.remove(request));
  }

  async function inBatches<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
    for (let start = 0; start < items.length && active; start += limits.workers) {
      await Promise.all(items.slice(start, start + limits.workers).map(act));
    }
  }

  let cancelCleanUp = () => {};
  let cleaning = Promise.resolve();
  function scheduleCleanUp(): void {
    cancelCleanUp = clock.after(cleanUpIntervalMs, () => {
      cleaning = cleanUp()
        .catch((error: unknown) => onError?.('clean-up', error))
        .then(() => {
          if (active) scheduleCleanUp();
        });
    });
  }

  const oldestFirst = [...ledger.all()].sort((left, right) => left.createdAt - right.createdAt);
  for (const { name } of oldestFirst) changed(name);
  scheduleCleanUp();
  return {
    changed,
    waiting: () => queue.waiting(),
    running: () => queue.running(),
    async stop() {
      active = false;
      cancelCleanUp();
      await Promise.all([queue.stop(), cleaning]);
    },
  };
}
