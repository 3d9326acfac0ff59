import { type Clock, pause, systemClock } from '../../background/clock.ts';
import { backgroundLimits, createTurn } from '../../background/evaluate.ts';
import type { GeneratedObject } from '../../background/generate/generate.ts';
import type { ObjectStore } from '../../background/ports.ts';
import { createBreaker } from '../../background/queue/breaker.ts';
import {
  type Controller,
  type ControllerLimits,
  startController,
} from '../../background/queue/controller.ts';
import type { UpdateRequest, UpdateStatus } from '../../background/queue/update-request.ts';
import { planReconciles, planSweeps } from '../../background/run/plan-sweeps.ts';
import { createGenerateRunner } from '../../background/run/run-generate.ts';
import { createRunner, type RunnerOptions } from '../../background/run/run-request.ts';
import type { TargetWrite } from '../../background/targets/write-target.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { policyId } from '../../policy/policy-id.ts';
import { systemEnvironment } from '../../system-environment.ts';
import type { ApiClient } from '../api/client.ts';
import { messageOf } from '../api/cluster-error.ts';
import { createCoalescedTask } from '../api/coalesced-task.ts';
import type { Discovery } from '../api/discovery.ts';
import type { InformerTiming } from '../api/informer.ts';
import { type LeaseTiming, startLeaderElection } from '../api/leader-election.ts';
import type { ClusterMetrics } from '../metrics/cluster-metrics.ts';
import type { PolicyCatalog } from '../policies/catalog.ts';
import type { ClusterLog } from '../settings/cluster-options.ts';
import type { ClusterSettings } from '../settings/cluster-settings.ts';
import { followDownstream, pollIntervalMs } from './generate-followers.ts';
import { openProgressStore } from './progress-store.ts';
import { exceptionsOf } from './trigger-index.ts';
import { openLedger } from './update-requests.ts';

export interface BackgroundWorkOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly identity: string;
  readonly catalog: PolicyCatalog;
  readonly discovery: Discovery;
  readonly dataSource: DataSource;
  readonly store: ObjectStore;
  settings(): ClusterSettings;
  readonly metrics: ClusterMetrics;
  readonly log: ClusterLog;
  /** The interval of the periodic resync; 0 disables it. */
  readonly scanIntervalMs: number;
  readonly limits?: Partial<ControllerLimits> | undefined;
  readonly triggerWaitMs?: number | undefined;
  readonly lease?: LeaseTiming | undefined;
  readonly timing?: Partial<InformerTiming> | undefined;
  /** The role that the background controller lacks for a policy. */
  adviceFor(policy: CompiledPolicy): Promise<string | undefined>;
  readonly observer: BackgroundObserver;
  /** Resolves when the policies are loaded: until then, a missing policy must not count as deleted. */
  policiesKnown(): Promise<void>;
}

/** Receives all results, for events, metrics and logs. */
export interface BackgroundObserver {
  wrote(policy: CompiledPolicy, request: UpdateRequest, write: TargetWrite): void;
  generated(policy: CompiledPolicy, request: UpdateRequest, made: GeneratedObject): void;
  ended(policy: CompiledPolicy | undefined, request: UpdateRequest, status: UpdateStatus): void;
}

export interface BackgroundMetrics {
  readonly leads: boolean;
  readonly waiting: number;
  readonly running: number;
  /** UpdateRequests by state. */
  readonly states: Readonly<Record<string, number>>;
  /** Where they are. */
  readonly namespace: string;
}

export interface BackgroundWork {
  isLeader(): boolean;
  hasSynced(): boolean;
  /** Call it when policies changed. */
  policiesChanged(): void;
  metrics(): BackgroundMetrics;
  stop(): Promise<void>;
}

export const backgroundLeaseName = 'kymera-background';
const tickMs = 1_000;
/** A new leader repeats resyncs that were due during the change of leaders. */
const resyncOverlapMs = 20_000;

/** Processes UpdateRequests while this replica leads. */
export function startBackgroundWork(options: BackgroundWorkOptions): BackgroundWork {
  const { client, namespace, catalog, log, observer } = options;
  const complain = (what: string, error: unknown) =>
    log.warn({ what, reason: messageOf(error) }, 'failed; will be retried');
  let leading: Leading | undefined;
  const ledger = openLedger({
    client,
    namespace,
    onChange: (name) => leading?.controller.changed(name),
    onError: (error) => complain('update requests', error),
    timing: options.timing,
  });
  const clock: Clock = systemClock;
  const evaluation = {
    limits: backgroundLimits,
    clock: () => performance.now(),
    turn: createTurn(() => pause(clock, 0)),
  };
  const policyOf = (id: string) => catalog.policies().find((policy) => policyId(policy) === id);
  const progress = openProgressStore(client, namespace);

  interface Leading {
    readonly controller: Controller;
    policiesChanged(): void;
    stop(): Promise<void>;
  }

  function lead(): Leading {
    const shared: Omit<RunnerOptions, 'generate' | 'onWrite'> = {
      store: options.store,
      dataSource: options.dataSource,
      environment: systemEnvironment,
      evaluation,
      clock,
      breaker: createBreaker({ clock }),
      policyOf,
      exceptionsOf: (policy) => exceptionsOf(catalog.sets().all, policy),
      kindOfResource: (resource) => options.discovery.current().kindOfResource(resource),
      adviceFor: options.adviceFor,
      triggerWaitMs: options.triggerWaitMs,
    };
    const followers = followDownstream({
      client,
      discovery: options.discovery,
      policies: () => catalog.policies(),
      put: (request) => ledger.put(request),
      onError: (error) => complain('generated objects', error),
      onPoll: (kind, error) =>
        log.warn(
          { kind, reason: messageOf(error), seconds: pollIntervalMs / 1_000 },
          'generated objects may not be watched; they are listed periodically',
        ),
      timing: options.timing,
    });
    const run = createRunner({
      ...shared,
      generate: createGenerateRunner({
        ...shared,
        onGenerated(request, made) {
          followers.wrote(made);
          const policy = policyOf(request.policy);
          if (policy !== undefined) observer.generated(policy, request, made);
        },
      }),
      onWrite(request, write) {
        const policy = policyOf(request.policy);
        if (policy !== undefined) observer.wrote(policy, request, write);
      },
    });
    const controller = startController({
      ledger,
      clock,
      run,
      threshold: () => options.settings().updateRequestThreshold,
      limits: options.limits,
      onResult: (request, status) => observer.ended(policyOf(request.policy), request, status),
      onError: complain,
    });
    const sweeps = createCoalescedTask(
      async () => {
        const plan = planSweeps(catalog.policies(), await progress.load());
        for (const request of plan.requests) await ledger.put(request);
        if (plan.isChanged) await progress.save(plan.seen);
      },
      {
        delayMs: 200,
        onError: (error) => complain('policy updates', error),
        onEnd: options.metrics.endOf('policy-update-controller'),
      },
    );
    let resyncedAt = clock.now() - resyncOverlapMs;
    const resync = createCoalescedTask(
      async () => {
        const now = clock.now();
        const due = planReconciles(catalog.policies(), options.scanIntervalMs, resyncedAt, now);
        for (const request of due) await ledger.put(request);
        resyncedAt = now;
      },
      { delayMs: 0, onError: (error) => complain('periodic resync', error) },
    );
    const timer = setInterval(() => resync.trigger(), tickMs);
    sweeps.trigger();
    return {
      controller,
      policiesChanged() {
        sweeps.trigger();
        followers.policiesChanged();
      },
      async stop() {
        clearInterval(timer);
        await Promise.all([sweeps.stop(), resync.stop(), followers.stop(), controller.stop()]);
      },
    };
  }

  /** Changes of leadership are processed one after the other. */
  let turning = Promise.resolve();
  const turn = (isLeader: boolean) => {
    turning = turning
      .then(async () => {
        await leading?.stop();
        leading = undefined;
        if (!isLeader) return;
        await Promise.all([ledger.synced, options.policiesKnown()]);
        if (election.isLeader()) leading = lead();
      })
      .catch((error: unknown) => complain('leadership', error));
  };
  const election = startLeaderElection({
    client,
    namespace,
    name: backgroundLeaseName,
    identity: options.identity,
    timing: options.lease,
    onChange(isLeader) {
      log.info(
        { identity: options.identity },
        isLeader
          ? 'became the leader of the background controller'
          : 'is no longer the leader of the background controller',
      );
      turn(isLeader);
    },
    onError: (error) => complain('leader election', error),
  });

  return {
    isLeader: () => election.isLeader(),
    hasSynced: () => ledger.hasSynced(),
    policiesChanged: () => leading?.policiesChanged(),
    metrics() {
      const states: Record<string, number> = {};
      for (const { status } of ledger.all()) states[status.state] = (states[status.state] ?? 0) + 1;
      return {
        leads: election.isLeader(),
        waiting: leading?.controller.waiting() ?? 0,
        running: leading?.controller.running() ?? 0,
        states,
        namespace,
      };
    },
    async stop() {
      // Finish running work before another replica takes over.
      await turning;
      await leading?.stop();
      leading = undefined;
      await election.stop();
      await turning;
      await ledger.stop();
    },
  };
}
