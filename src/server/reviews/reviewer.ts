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
import {
  type AdmissionReview,
  allow,
  deny,
  reviewText,
  reviewWith,
} from '../../admission/review-response.ts';
import { type DataSource, emptyDataSource } from '../../engine/context/data-source.ts';
import type { Steps } from '../../engine/steps.ts';
import type { Environment } from '../../expression/scope.ts';
import { admissionLimits, type BudgetLimits } from '../../json/budget.ts';
import type { PolicySnapshot } from '../../policy/registry/registry.ts';
import { systemEnvironment } from '../../system-environment.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Watchdog } from '../watchdog/watchdog.ts';
import type { DecisionLog } from './decision-log.ts';
import { observeSource } from './observed-source.ts';
import { logReview } from './review-log.ts';
import type { PolicyScope, Review } from './routes.ts';

export interface ReviewerOptions extends AdmissionSettings {
  readonly provider: PolicyProvider;
  readonly dataSource?: DataSource | undefined;
  readonly environment?: Environment | undefined;
  /** Called per review; a new object identity signals changed settings. */
  readonly settings?: (() => RequestSettings) | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly decisions?: DecisionLog | undefined;
  readonly watchdog?: Watchdog | undefined;
  /** Called after each decision: for events. */
  readonly onDecision?: ((decision: Decision) => void) | undefined;
}

const clock = () => performance.now();

/** Handles reviews of objects and reports them to logs, metrics and events. */
export function createReviewer(options: ReviewerOptions): (...review: Parameters<Review>) => Steps<string> {
  const { provider, metrics, log, decisions, watchdog, onDecision } = options;
  const source = options.dataSource ?? emptyDataSource;
  const environment = options.environment ?? systemEnvironment;
  const splitByMode = createModeSplitter();
  const compiledSettings = followSettings(options.settings ?? (() => defaultRequestSettings), environment);

  return function* (body, scope, milliseconds, path) {
    const startedAt = performance.now();
    const reviewed = requestOf(body, options);
    const snapshot = snapshotFor(provider.current(), scope);
    if (snapshot === undefined) {
      log.warn({ uid: reviewed.uid, path }, 'the policy does not exist');
      return reviewText(unknownPolicy(reviewed.apiVersion, reviewed.uid, scope));
    }
    const bounded = withDeadline(source, milliseconds);
    const observed = decisions === undefined ? undefined : observeSource(bounded);
    const { filter, environment, maxContextSize } = compiledSettings();
    const decision = yield* decide(reviewed, splitByMode(snapshot), {
      dataSource: observed ?? bounded,
      clock,
      filter,
      environment,
      maxContextSize,
      limits: limitsUntil(startedAt + milliseconds),
      guard: watchdog?.guardReview(reviewed.request.namespace, milliseconds),
    });
    yield;
    const elapsed = performance.now() - startedAt;
    const microseconds = Math.round(elapsed * 1000);
    metrics.countReview(decision, elapsed / 1000);
    logReview(log, decision, path, microseconds);
    decisions?.record(decision, microseconds, observed?.readsSecrets ?? false);
    onDecision?.(decision);
    return reviewText(reviewWith(decision.apiVersion, decision.response));
  };
}

/** Without a spread: V8 adds a member to a copy of an object in its slow path. */
function limitsUntil(deadline: number): BudgetLimits {
  const { steps, bytes, milliseconds } = admissionLimits;
  return { steps, bytes, milliseconds, deadline };
}

function snapshotFor(sets: PolicySets, { set, policy }: PolicyScope): PolicySnapshot | undefined {
  return policy === undefined ? sets[set] : sets.policy(policy);
}

/** The policy was just deleted or has not arrived yet: the failure policy in the path decides, as for any failure. */
function unknownPolicy(apiVersion: string, uid: string, { set, policy }: PolicyScope): AdmissionReview {
  const message = `there is no policy ${policy ?? ''}`;
  return reviewWith(
    apiVersion,
    set === 'ignore' ? allow(uid, [message]) : deny(uid, `mutation failed: ${message}`),
  );
}

type CompiledSettings = Pick<DecisionOptions, 'filter' | 'environment' | 'maxContextSize'>;

function followSettings(settings: () => RequestSettings, environment: Environment): () => CompiledSettings {
  let known = settings();
  let compiled = compileSettings(known, environment);
  return () => {
    const current = settings();
    if (current !== known) {
      known = current;
      compiled = compileSettings(current, environment);
    }
    return compiled;
  };
}

function compileSettings(settings: RequestSettings, environment: Environment): CompiledSettings {
  const { defaultRegistry, enableDefaultRegistryMutation, maxContextSize } = settings;
  return {
    filter: compileRequestFilter(settings),
    environment: { ...environment, imageDefaults: { defaultRegistry, enableDefaultRegistryMutation } },
    maxContextSize,
  };
}
