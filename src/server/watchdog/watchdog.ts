import { Worker } from 'node:worker_threads';
import { type Blockage, fingerprintOf } from '../../admission/blockage.ts';
import type { RuleGuard } from '../../engine/rule-guard.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import { policyId } from '../../policy/policy-id.ts';
import type { Log } from '../log.ts';
import { openBlockageStore, type SharedBlockages } from './stuck-rules.ts';
import {
  createSharedState,
  layout,
  type RuleNames,
  type WatchThreadData,
  watchMainThread,
} from './watch-thread.ts';

export interface WatchdogOptions {
  /** Where blockages are stored. */
  readonly folder: string;
  /** With other replicas. */
  readonly shared?: SharedBlockages | undefined;
  readonly log: Log;
}

/**
 * Ends the process when a rule blocks the event loop for longer than a review may take. A rule that has done so twice for
 * objects of a namespace fails at once for objects of that namespace.
 */
export interface Watchdog {
  /** Guards the rules of a review: the namespace of its object, and how long it may take. */
  guardReview(namespace: string, milliseconds: number): RuleGuard;
  stuckRules(): readonly Blockage[];
  stop(): Promise<void>;
}

const turnIntervalMilliseconds = 100;
const refreshIntervalMilliseconds = 5_000;
/** Added to the time of a review: its own deadline comes first. */
const graceMilliseconds = 1_000;
/** Loading many policies also blocks the event loop. */
const idleLimitMilliseconds = 60_000;
const noRule = 0;

export function startWatchdog({ folder, shared: others, log }: WatchdogOptions): Watchdog {
  const store = openBlockageStore(folder, others, (error) =>
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, 'blockages are not shared'),
  );
  for (const { policy, rule, namespace } of store.stuckRules())
    log.error({ policy, rule, namespace }, 'the rule fails at once: it has blocked the server twice');
  const shared = createSharedState();
  const { numbers } = shared;
  const encoder = new TextEncoder();
  const workerData: WatchThreadData = { ...shared, layout, file: store.file, idleLimitMilliseconds };
  const thread = new Worker(`(${watchMainThread.toString()})()`, { eval: true, workerData });
  thread.unref();
  thread.on('error', (error) => log.error({ error: error.message }, 'the watchdog ended'));
  const turning = setInterval(() => Atomics.add(numbers, layout.turn, 1), turnIntervalMilliseconds).unref();
  const refreshing = setInterval(() => store.refresh(), refreshIntervalMilliseconds).unref();

  const known = new WeakMap<CompiledRule, RuleNames>();
  let lastId = noRule;
  let lastNamespace = '';
  function namesOf(policy: CompiledPolicy, rule: CompiledRule): RuleNames {
    const found = known.get(rule);
    if (found !== undefined) return found;
    lastId += 1;
    const names = { id: lastId, policy: policyId(policy), rule: rule.name, fingerprint: fingerprintOf(rule) };
    known.set(rule, names);
    thread.postMessage(names);
    return names;
  }
  function setNamespace(namespace: string): void {
    lastNamespace = namespace;
    numbers[layout.namespaceLength] = encoder.encodeInto(namespace, shared.namespace).written;
  }

  return {
    guardReview: (namespace, milliseconds) => ({
      enter(policy, rule) {
        const { id, fingerprint, policy: policyName } = namesOf(policy, rule);
        if (store.isStuck(fingerprint, policyName, namespace))
          return `the rule has blocked the server twice for objects of namespace "${namespace}"`;
        if (namespace !== lastNamespace) setNamespace(namespace);
        numbers[layout.limit] = milliseconds + graceMilliseconds;
        numbers[layout.rule] = id;
        return undefined;
      },
      leave() {
        numbers[layout.rule] = noRule;
      },
    }),
    stuckRules: () => store.stuckRules(),
    async stop() {
      clearInterval(turning);
      clearInterval(refreshing);
      await thread.terminate();
    },
  };
}
