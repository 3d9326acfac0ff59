import { backgroundRules } from '../../background/background-rule.ts';
import { readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import { createCoalescedTask } from '../api/coalesced-task.ts';
import type { KindTable } from '../api/discovery.ts';
import { resourceTypes } from '../api/resource-path.ts';
import { accessText, missingAccess, missingRole } from './access.ts';
import type { BackgroundIdentity } from './identity.ts';
import { backgroundLeaseName } from './work.ts';

/** What can be said of the background about one policy. */
export interface BackgroundState {
  /** Nobody does the work. */
  readonly isAbsent?: boolean | undefined;
  /** What it may not do, and what has to be added. */
  readonly lacking?: string | undefined;
  /** What it may not read. */
  readonly unread?: string | undefined;
}

export interface BackgroundViewOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  policies(): readonly CompiledPolicy[];
  kinds(): KindTable;
  identity(): Promise<BackgroundIdentity>;
  /** Only the leader writes about it. */
  isLeader(): boolean;
  /** The work is done in this process. */
  readonly runsHere: boolean;
  /** Nothing is to be done in the background. */
  readonly isOff?: boolean | undefined;
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

export interface BackgroundView {
  stateOf(policy: CompiledPolicy): BackgroundState;
  /** Policies or kinds changed. */
  look(): void;
  stop(): Promise<void>;
}

const lookEveryMs = 15_000;
/** It is renewed every other second. */
const longestSilenceMs = 40_000;

/** Looks regularly whether somebody does the work in the background, and is allowed to. */
export function startBackgroundView(options: BackgroundViewOptions): BackgroundView {
  const { client, namespace, runsHere } = options;
  let renewed = { mark: '', at: 0 };
  let states: ReadonlyMap<string, BackgroundState> = new Map();
  const task = createCoalescedTask(
    async () => {
      if (!options.isLeader()) return;
      const policies = options.policies().filter((policy) => backgroundRules(policy).length > 0);
      const next = policies.length === 0 ? new Map<string, BackgroundState>() : await lookAt(policies);
      const isSame = JSON.stringify([...next]) === JSON.stringify([...states]);
      states = next;
      if (!isSame) options.onChange();
    },
    { delayMs: 100, onError: options.onError },
  );

  /** Somebody holds the Lease, and renews it: one that was killed does not. */
  async function isHeld(): Promise<boolean> {
    const spec = readObject((await findLease(client, namespace)) ?? {}, 'spec') ?? {};
    if ((readText(spec, 'holderIdentity') ?? '') === '') return false;
    const mark = readText(spec, 'renewTime') ?? '';
    if (mark !== renewed.mark) renewed = { mark, at: Date.now() };
    return Date.now() - renewed.at < longestSilenceMs;
  }

  async function lookAt(policies: readonly CompiledPolicy[]): Promise<ReadonlyMap<string, BackgroundState>> {
    if (options.isOff === true) return new Map(policies.map(({ key }) => [key, { isAbsent: true }]));
    const isThere = runsHere || (await isHeld());
    const identity = await options.identity();
    const found = new Map<string, BackgroundState>();
    for (const policy of policies) {
      const missing = await missingAccess(client, identity, policy.document, options.kinds());
      const { user, toAct, toRead } = missing;
      const role = toAct.length + toRead.length === 0 ? '' : missingRole(policy.key, missing);
      found.set(policy.key, {
        ...(isThere ? {} : { isAbsent: true }),
        ...(toAct.length === 0 ? {} : { lacking: `'${user}' may not ${accessText(toAct)}; ${role}` }),
        ...(toRead.length === 0 ? {} : { unread: `'${user}' may not ${accessText(toRead)}` }),
      });
    }
    return found;
  }

  const timer = setInterval(() => task.trigger(), lookEveryMs);
  task.trigger();
  return {
    stateOf: (policy) => states.get(policy.key) ?? {},
    look: () => task.trigger(),
    async stop() {
      clearInterval(timer);
      await task.stop();
    },
  };
}

async function findLease(client: ApiClient, namespace: string): Promise<JsonObject | undefined> {
  try {
    return await client.get(resourceTypes.leases, { namespace, name: backgroundLeaseName });
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}
