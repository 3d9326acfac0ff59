import { failureText } from '../../admission/failure-text.ts';
import type { TriggerOutcome } from './trigger-outcome.ts';

/** Why a rule could not say whether a trigger is one, without values of objects. */
export function triggerFailureText(outcome: Extract<TriggerOutcome, { status: 'failed' }>): string {
  return failureText(outcome as unknown as Parameters<typeof failureText>[0]);
}
