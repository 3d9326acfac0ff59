import { refTitle } from '../../background/object-identity.ts';
import { messageOf } from '../api/cluster-error.ts';
import { generatedNotes, resultNotes, writeNotes } from '../events/background-events.ts';
import type { EventSink } from '../events/events.ts';
import type { EventNote } from '../events/review-events.ts';
import { createCounts } from '../metrics/counts.ts';
import { missingAccess, missingRole } from './access.ts';
import type { BackgroundIdentity } from './identity.ts';
import { createClusterStore } from './store.ts';
import {
  type BackgroundMetrics,
  type BackgroundWork,
  type BackgroundWorkOptions,
  startBackgroundWork,
} from './work.ts';

export interface BackgroundPartOptions
  extends Omit<BackgroundWorkOptions, 'store' | 'observer' | 'adviceFor'> {
  readonly events: EventSink;
  /** Reasons of events to omit; by default successes, unless the settings enable them. */
  readonly omitEvents?: readonly string[] | undefined;
  /** The user of the background controller. */
  user(): Promise<BackgroundIdentity>;
}

export interface BackgroundPart extends Omit<BackgroundWork, 'metrics'> {
  metrics(): BackgroundPartMetrics;
}

export interface BackgroundPartMetrics extends BackgroundMetrics {
  readonly ended: ReturnType<ReturnType<typeof createCounts>['all']>;
  readonly targets: ReturnType<ReturnType<typeof createCounts>['all']>;
}

const successes: readonly string[] = ['PolicyApplied', 'PolicySkipped'];

/** The background controller with its events and metrics. */
export function startBackgroundPart(options: BackgroundPartOptions): BackgroundPart {
  const { client, discovery, events, metrics, log } = options;
  const ended = createCounts();
  const targets = createCounts();
  const report = (notes: readonly EventNote[]) => {
    const quiet = options.settings().generateSuccessEvents ? [] : successes;
    const omitted = new Set(options.omitEvents ?? quiet);
    events.add(notes.filter(({ reason }) => !omitted.has(reason)));
  };
  const work = startBackgroundWork({
    ...options,
    store: createClusterStore(client, () => discovery.current()),
    async adviceFor(policy) {
      try {
        const missing = await missingAccess(
          client,
          await options.user(),
          policy.document,
          discovery.current(),
        );
        const { toAct, toRead, toWatch } = missing;
        const isWhole = toAct.length + toRead.length + toWatch.length === 0;
        return isWhole ? undefined : missingRole(policy.key, missing);
      } catch (error) {
        // The refusal itself is reported anyway.
        log.warn(
          { policy: policy.key, reason: messageOf(error) },
          'the missing permissions cannot be determined',
        );
        return undefined;
      }
    },
    observer: {
      wrote(policy, request, write) {
        targets.add({ policy_name: policy.key, rule_name: request.rule, outcome: write.outcome });
        report(writeNotes(policy, request, write));
        const { ref, outcome } = write.result;
        for (const reason of 'warnings' in outcome ? (outcome.warnings ?? []) : [])
          log.warn(
            { policy: policy.key, rule: request.rule, target: refTitle(ref), reason },
            'a policy warns',
          );
      },
      generated(policy, request, made) {
        targets.add({ policy_name: policy.key, rule_name: request.rule, outcome: made.action });
        report(generatedNotes(policy, request, made));
      },
      ended(policy, request, status) {
        const { state, message, deadLetter, retryCount } = status;
        if (deadLetter) metrics.gaveUp('update-request-controller');
        else metrics.endOf('update-request-controller')(state === 'Failed' ? retryCount : 0);
        ended.add({
          policy_name: request.policy,
          rule_name: request.rule,
          state: deadLetter ? 'DeadLetter' : state,
        });
        const about = { request: request.name, policy: request.policy, rule: request.rule, state, message };
        if (state === 'Failed')
          log.warn(
            about,
            deadLetter ? 'an UpdateRequest failed for the last time' : 'an UpdateRequest failed',
          );
        else log.info(about, 'an UpdateRequest completed');
        if (policy !== undefined) report(resultNotes(policy, request, status));
      },
    },
  });
  return {
    ...work,
    metrics: () => ({ ...work.metrics(), ended: ended.all(), targets: targets.all() }),
  };
}
