import { readNumber, readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { sleep } from './back-off.ts';
import type { ApiClient } from './client.ts';
import { hasStatus } from './cluster-error.ts';
import { managedLabels } from './names.ts';
import { resourceTypes } from './resource-path.ts';

export interface LeaseOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
  /** Called when leadership is gained or lost. */
  readonly onChange: (isLeader: boolean) => void;
  readonly onError?: ((error: unknown) => void) | undefined;
  readonly timing?: LeaseTiming | undefined;
}

export interface LeaseTiming {
  readonly retryMs: number;
  /** A leader that cannot renew the Lease for this long stops, before another replica starts. */
  readonly renewDeadlineMs: number;
  readonly durationMs: number;
}

export interface LeaderElection {
  isLeader(): boolean;
  /** Releases the Lease, so that another replica takes over immediately. */
  stop(): Promise<void>;
}

const defaultTiming: LeaseTiming = { retryMs: 2_000, renewDeadlineMs: 10_000, durationMs: 12_000 };

/** Takes part in leader election with a Lease. Only local durations are compared, because clocks differ. */
export function startLeaderElection(options: LeaseOptions): LeaderElection {
  const { client, namespace, name, identity, onChange, onError, timing = defaultTiming } = options;
  const stopping = new AbortController();
  let leader = false;
  let renewedAt = 0;
  let observed = { mark: '', at: 0 };

  function lead(now: boolean): void {
    if (leader === now) return;
    leader = now;
    onChange(now);
  }

  async function read(): Promise<JsonObject | undefined> {
    try {
      return await client.get(
        resourceTypes.leases,
        { namespace, name },
        { timeoutMs: timing.renewDeadlineMs / 2 },
      );
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    }
  }

  /** Returns whether this replica holds the Lease now. */
  async function attempt(): Promise<boolean> {
    const lease = await read();
    const spec = readObject(lease ?? {}, 'spec') ?? {};
    const holder = readText(spec, 'holderIdentity') ?? '';
    const mark = `${holder} ${readText(spec, 'renewTime') ?? ''}`;
    if (mark !== observed.mark) observed = { mark, at: performance.now() };
    const durationMs = (readNumber(spec, 'leaseDurationSeconds') ?? 0) * 1000;
    const isFree = holder === '' || holder === identity || performance.now() > observed.at + durationMs;
    if (!isFree) return false;
    await write(lease, holder === identity ? spec : undefined);
    return true;
  }

  async function write(lease: JsonObject | undefined, own: JsonObject | undefined): Promise<void> {
    const now = microTime(new Date());
    const before = readObject(lease ?? {}, 'spec') ?? {};
    const spec: JsonObject = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(timing.durationMs / 1000),
      acquireTime: readText(own ?? {}, 'acquireTime') ?? now,
      renewTime: now,
      leaseTransitions:
        (readNumber(before, 'leaseTransitions') ?? 0) + (own === undefined && lease !== undefined ? 1 : 0),
    };
    const call = { timeoutMs: timing.renewDeadlineMs / 2 };
    if (lease !== undefined) await client.update(resourceTypes.leases, { ...lease, spec }, call);
    else {
      const metadata = { name, namespace, labels: { ...managedLabels } };
      const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
      await client.create(resourceTypes.leases, object, call);
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const startedAt = performance.now();
        const holds = await attempt();
        if (holds) renewedAt = startedAt;
        if (!stopping.signal.aborted) lead(holds);
      } catch (error) {
        // 409: another replica was faster.
        if (!hasStatus(error, 409)) onError?.(error);
        if (performance.now() > renewedAt + timing.renewDeadlineMs) lead(false);
      }
      await sleep(timing.retryMs * (0.8 + Math.random() * 0.4), stopping.signal);
    }
  }

  async function release(): Promise<void> {
    const lease = await read();
    const spec = readObject(lease ?? {}, 'spec') ?? {};
    if (lease === undefined || readText(spec, 'holderIdentity') !== identity) return;
    await client.update(resourceTypes.leases, {
      ...lease,
      spec: { ...spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(new Date()) },
    });
  }

  // A request that hangs must not lead to two leaders.
  const guard = setInterval(() => {
    if (leader && performance.now() > renewedAt + timing.renewDeadlineMs) lead(false);
  }, timing.retryMs / 2);
  const running = run();
  return {
    isLeader: () => leader,
    async stop() {
      stopping.abort();
      clearInterval(guard);
      await running;
      const wasLeader = leader;
      lead(false);
      if (wasLeader) await release().catch((error: unknown) => onError?.(error));
    },
  };
}

/** The identity of the current holder; empty if there is none. */
export async function leaseHolder(
  client: ApiClient,
  place: { readonly namespace: string; readonly name: string },
): Promise<string> {
  try {
    const lease = await client.get(resourceTypes.leases, place);
    return readText(readObject(lease, 'spec') ?? {}, 'holderIdentity') ?? '';
  } catch (error) {
    if (hasStatus(error, 404)) return '';
    throw error;
  }
}

function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
