import { backgroundRules } from '../../background/background-rule.ts';
import { readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import type { ApiClient } from '../api/client.ts';
import { hasStatus } from '../api/cluster-error.ts';
import { createCoalescedTask } from '../api/coalesced-task.ts';
import type { KindTable } from '../api/discovery.ts';
import { resourceTypes } from '../api/resource-path.ts';
import type { BackgroundHealth } from '../policies/status.ts';
import { accessText, accessWarnings, missingAccess, missingRole } from './access.ts';
import type { BackgroundIdentity } from './identity.ts';
import { backgroundLeaseName } from './work.ts';

export interface BackgroundMonitorOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  policies(): readonly CompiledPolicy[];
  kinds(): KindTable;
  identity(): Promise<BackgroundIdentity>;
  /** Only the leader reports the result, so only the leader checks. */
  isLeader(): boolean;
  /** This process runs the background controller. */
  readonly runsHere: boolean;
  /** Background processing is disabled. */
  readonly isOff?: boolean | undefined;
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

export interface BackgroundMonitor {
  healthOf(policy: CompiledPolicy): BackgroundHealth;
  /** Checks soon; call it when policies or kinds changed. */
  check(): void;
  stop(): Promise<void>;
}

const checkIntervalMs = 15_000;
/** The Lease is renewed every two seconds. */
const longestSilenceMs = 40_000;

/** Checks periodically whether a background controller runs and has the permissions that the policies need. */
export function startBackgroundMonitor(options: BackgroundMonitorOptions): BackgroundMonitor {
  const { client, namespace, runsHere } = options;
  let renewed = { time: '', at: 0 };
  let states: ReadonlyMap<string, BackgroundHealth> = new Map();
  const task = createCoalescedTask(
    async () => {
      if (!options.isLeader()) return;
      const policies = options.policies().filter((policy) => backgroundRules(policy).length > 0);
      const next =
        policies.length === 0 ? new Map<string, BackgroundHealth>() : await checkPolicies(policies);
      const isSame = JSON.stringify([...next]) === JSON.stringify([...states]);
      states = next;
      if (!isSame) options.onChange();
    },
    { delayMs: 100, onError: options.onError },
  );

  /** A holder that was killed does not renew the Lease. */
  async function isHeld(): Promise<boolean> {
    const spec = readObject((await findLease(client, namespace)) ?? {}, 'spec') ?? {};
    if ((readText(spec, 'holderIdentity') ?? '') === '') return false;
    const time = readText(spec, 'renewTime') ?? '';
    if (time !== renewed.time) renewed = { time, at: performance.now() };
    return performance.now() - renewed.at < longestSilenceMs;
  }

  async function checkPolicies(
    policies: readonly CompiledPolicy[],
  ): Promise<ReadonlyMap<string, BackgroundHealth>> {
    if (options.isOff === true) return new Map(policies.map(({ key }) => [key, { isAbsent: true }]));
    const isRunning = runsHere || (await isHeld());
    const identity = await options.identity();
    const found = new Map<string, BackgroundHealth>();
    for (const policy of policies) {
      const missing = await missingAccess(client, identity, policy.document, options.kinds());
      const { user, toAct } = missing;
      const warnings = accessWarnings(missing);
      const role = toAct.length === 0 ? '' : missingRole(policy.key, missing);
      found.set(policy.key, {
        ...(isRunning ? {} : { isAbsent: true }),
        ...(toAct.length === 0 ? {} : { lacking: `'${user}' may not ${accessText(toAct)}; ${role}` }),
        ...(warnings.length === 0 ? {} : { limited: warnings.join('; ') }),
      });
    }
    return found;
  }

  const timer = setInterval(() => task.trigger(), checkIntervalMs);
  task.trigger();
  return {
    healthOf: (policy) => states.get(policy.key) ?? {},
    check: () => task.trigger(),
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
