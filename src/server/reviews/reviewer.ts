import { withDeadline } from '../../admission/deadline.ts';
import { type Decision, type DecisionOptions, decide } from '../../admission/decision.ts';
import { createModeSplitter } from '../../admission/policy-mode.ts';
import {
  defaultRequestSettings,
  type PolicyProvider,
  type PolicySets,
  type RequestSettings,
} from '../../admission/policy-provider.ts';
import { compileRequestFilter } from '../../admission/request-filter.ts';
import { type AdmissionSettings, requestOf } from '../../admission/review-request.ts';
import { type AdmissionReview, allow, deny, reviewWith } from '../../admission/review-response.ts';
import { type DataSource, emptyDataSource } from '../../engine/context/data-source.ts';
import type { Environment } from '../../expression/scope.ts';
import type { Json } from '../../json/value.ts';
import type { PolicySnapshot } from '../../policy/registry.ts';
import { systemEnvironment } from '../../system-environment.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { DecisionLog } from './decision-log.ts';
import { observeSource } from './observed-source.ts';
import { type Log, logReview } from './review-log.ts';

export interface ReviewerOptions extends AdmissionSettings {
  readonly provider: PolicyProvider;
  readonly dataSource?: DataSource | undefined;
  readonly environment?: Environment | undefined;
  /** Asked at each review; a new object means new settings. */
  readonly settings?: (() => RequestSettings) | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly decisions?: DecisionLog | undefined;
  /** Told of each decision, after it was made: events. */
  readonly onDecision?: ((decision: Decision) => void) | undefined;
}

/** Which of the policies a URL asks for. */
export type PolicyScope = { readonly set: 'all' | 'ignore' | 'fail'; readonly policy?: string | undefined };

export type Reviewer = (
  body: Json,
  scope: PolicyScope,
  milliseconds: number,
  path: string,
) => Promise<AdmissionReview>;

const clock = () => performance.now();

/** Answers reviews and tells of them. Throws MalformedReview for a body that is none. */
export function createReviewer(options: ReviewerOptions): Reviewer {
  const { provider, metrics, log, decisions, onDecision } = options;
  const source = options.dataSource ?? emptyDataSource;
  const environment = options.environment ?? systemEnvironment;
  const splitByMode = createModeSplitter();
  const rulesOfSettings = followSettings(options.settings ?? (() => defaultRequestSettings), environment);

  return async (body, scope, milliseconds, path) => {
    const startedAt = performance.now();
    const reviewed = requestOf(body, options);
    const snapshot = snapshotFor(provider.current(), scope);
    if (snapshot === undefined) {
      log.warn({ uid: reviewed.uid, path }, 'there is no such policy');
      return unknownPolicy(reviewed.apiVersion, reviewed.uid, scope);
    }
    const bounded = withDeadline(source, milliseconds);
    const observed = decisions === undefined ? undefined : observeSource(bounded);
    const { filter, environment, maxContextSize } = rulesOfSettings();
    const decision = await decide(reviewed, splitByMode(snapshot), {
      dataSource: observed ?? bounded,
      clock,
      filter,
      environment,
      maxContextSize,
    });
    const elapsed = performance.now() - startedAt;
    const microseconds = Math.round(elapsed * 1000);
    metrics.countReview(decision, elapsed / 1000);
    logReview(log, decision, path, microseconds);
    decisions?.record(decision, microseconds, observed?.readsSecrets ?? false);
    onDecision?.(decision);
    return reviewWith(decision.apiVersion, decision.response);
  };
}

function snapshotFor(sets: PolicySets, { set, policy }: PolicyScope): PolicySnapshot | undefined {
  return policy === undefined ? sets[set] : sets.policy(policy);
}

/** The policy was deleted a moment ago, or has not arrived: the failure policy of the URL decides, as for any failure. */
function unknownPolicy(apiVersion: string, uid: string, { set, policy }: PolicyScope): AdmissionReview {
  const message = `there is no policy ${policy ?? ''}`;
  return reviewWith(
    apiVersion,
    set === 'ignore' ? allow(uid, [message]) : deny(uid, `mutation failed: ${message}`),
  );
}

type SettingsInForce = Pick<DecisionOptions, 'filter' | 'environment' | 'maxContextSize'>;

function followSettings(settings: () => RequestSettings, environment: Environment): () => SettingsInForce {
  let known = settings();
  let inForce = putInForce(known, environment);
  return () => {
    const current = settings();
    if (current !== known) {
      known = current;
      inForce = putInForce(current, environment);
    }
    return inForce;
  };
}

function putInForce(settings: RequestSettings, environment: Environment): SettingsInForce {
  const { defaultRegistry, enableDefaultRegistryMutation, maxContextSize } = settings;
  return {
    filter: compileRequestFilter(settings),
    environment: { ...environment, imageDefaults: { defaultRegistry, enableDefaultRegistryMutation } },
    maxContextSize,
  };
}
