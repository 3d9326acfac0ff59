import type { PolicySets, RequestSettings } from '../../admission/policy-provider.ts';
import type { AdmissionSettings } from '../../admission/review-request.ts';
import { systemClock } from '../../background/clock.ts';
import { createTriggerQueue } from '../../background/triggers/trigger-queue.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { systemEnvironment } from '../../system-environment.ts';
import type { ApiClient } from '../api/client.ts';
import { messageOf } from '../api/cluster-error.ts';
import { createCoalescedTask } from '../api/coalesced-task.ts';
import { triggerNote } from '../events/background-events.ts';
import type { EventSink } from '../events/events.ts';
import { createCounts } from '../metrics/counts.ts';
import type { ClusterLog } from '../settings/cluster-options.ts';
import type { ClusterSettings } from '../settings/cluster-settings.ts';
import { ownIdentity } from './identity.ts';
import {
  type BackgroundUser,
  createTriggerReviewer,
  type ReviewedTrigger,
  type TriggerReviewer,
} from './trigger-reviewer.ts';
import { openInbox } from './update-requests.ts';

export interface TriggersOptions extends AdmissionSettings {
  readonly client: ApiClient;
  readonly namespace: string;
  policies(): PolicySets;
  settings(): ClusterSettings;
  readonly dataSource: DataSource;
  readonly events: EventSink;
  /** The user of the background controller; by default the user of the client. */
  readonly backgroundUser?: string | undefined;
  /** Reasons of events to omit. */
  readonly omitEvents: ReadonlySet<string>;
  readonly log: ClusterLog;
}

export interface Triggers {
  readonly reviewer: TriggerReviewer;
  metrics(): TriggerMetrics;
  stop(): Promise<void>;
}

export interface TriggerMetrics {
  /** Triggers queued in memory. */
  readonly waiting: number;
  /** Triggered rules, by policy and outcome. */
  readonly taken: ReturnType<ReturnType<typeof createCounts>['all']>;
}

/** Lost triggers of a policy are reported at most this often. */
const reportEveryMs = 10_000;

/** Accepts triggers of mutateExisting and generate rules, and writes UpdateRequests. */
export function startTriggers(options: TriggersOptions): Triggers {
  const { client, namespace, log, events } = options;
  const counts = createCounts();
  const reported = new Map<string, { at: number; count: number }>();
  let background: BackgroundUser | undefined =
    options.backgroundUser === undefined ? undefined : { username: options.backgroundUser, isShared: false };

  const findIdentity = createCoalescedTask(
    async () => {
      const { user } = await ownIdentity(client);
      background = { username: user, isShared: true };
    },
    {
      delayMs: 0,
      onError: (error) =>
        log.warn({ reason: messageOf(error) }, 'the user of the background controller is not known yet'),
    },
  );
  if (background === undefined) findIdentity.trigger();

  const inbox = openInbox({
    client,
    namespace,
    onChange: (name) => queue.seen(name),
    onError: (error) => log.warn({ what: 'update requests', reason: messageOf(error) }, 'cannot be watched'),
  });
  const queue = createTriggerQueue({
    inbox,
    clock: systemClock,
    threshold: () => options.settings().updateRequestThreshold,
    onDrop(request, reason) {
      counts.add({ policy_name: request.policy, rule_name: request.rule, outcome: 'dropped' });
      const policy = options.policies().all.policies.find(({ key }) => key === request.policy);
      if (policy !== undefined) report(policy, request.rule, `a trigger was lost: ${reason}`);
    },
  });

  /** Merges repeated reports into one event. */
  function report(policy: CompiledPolicy, rule: string, reason: string): void {
    const known = reported.get(policy.key) ?? { at: 0, count: 0 };
    known.count += 1;
    reported.set(policy.key, known);
    if (Date.now() - known.at < reportEveryMs) return;
    const text = known.count === 1 ? reason : `${reason} (${known.count} times)`;
    log.warn({ policy: policy.key, rule, reason: text }, 'a rule was not triggered immediately');
    if (!options.omitEvents.has('PolicyError')) events.add([triggerNote(policy, rule, text)]);
    known.at = Date.now();
    known.count = 0;
  }

  function note({ policy, rule, outcome, reason }: ReviewedTrigger): void {
    // Lost triggers are counted elsewhere.
    if (outcome !== 'dropped') counts.add({ policy_name: policy.key, rule_name: rule, outcome });
    const isFull = outcome === 'waiting' && reason.startsWith('there are ');
    if (outcome === 'failed' || (outcome === 'waiting' && !isFull)) report(policy, rule, reason);
  }

  const requestSettings = (): RequestSettings => options.settings().request;
  return {
    reviewer: createTriggerReviewer({
      ...options,
      settings: requestSettings,
      environment: systemEnvironment,
      queue,
      background: () => background,
      onTrigger: note,
    }),
    metrics: () => ({ waiting: queue.waiting(), taken: counts.all() }),
    async stop() {
      await findIdentity.stop();
      await queue.stop();
      await inbox.stop();
    },
  };
}
