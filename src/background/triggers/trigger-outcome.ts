import { failureText } from '../../admission/failure-text.ts';
import type { ClauseMiss, Failure } from '../../engine/outcome.ts';
import type { ConditionResult } from '../../expression/conditions/conditions.ts';
import { formatPointer } from '../../json/pointer.ts';
import type { Path } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import type { CelSkip } from '../../policy/compiled-cel.ts';
import type { BackgroundRule } from '../background-rule.ts';

/** The result of matching a trigger against one rule. */
export type TriggerOutcome = BackgroundRule & { readonly policy: CompiledPolicy } & (
    | { readonly status: 'passed' }
    /** The trigger no longer matches a synchronized generate rule: delete what was generated for it. */
    | { readonly status: 'withdrawn' }
    | { readonly status: 'skipped'; readonly reason: TriggerSkip; readonly message: string }
    | { readonly status: 'failed'; readonly failure: Failure; readonly message: string }
  );

export type TriggerSkip =
  | { readonly type: 'match'; readonly clauses: readonly ClauseMiss[] }
  | { readonly type: 'exclude'; readonly clause: Path }
  | { readonly type: 'namespace'; readonly expected: string; readonly actual: string }
  | { readonly type: 'operation'; readonly operation: string }
  | { readonly type: 'preconditions'; readonly conditions: readonly ConditionResult[] }
  | { readonly type: 'exception'; readonly exceptions: readonly string[] }
  | { readonly type: 'applyRules'; readonly after: string }
  | Exclude<CelSkip, { readonly type: 'exception' }>
  /** A request of the background controller. */
  | { readonly type: 'ownRequest' }
  /** The rule reads userInfo, and there is no request. */
  | { readonly type: 'userInfo' };

export function skipMessage(reason: TriggerSkip): string {
  switch (reason.type) {
    case 'match':
      return 'the object does not match';
    case 'exclude':
      return `the object is excluded by ${formatPointer(reason.clause)}`;
    case 'namespace':
      return `the policy applies only in namespace ${reason.expected}`;
    case 'operation':
      return `the rule does not list ${reason.operation}`;
    case 'preconditions': {
      const messages = reason.conditions.flatMap(({ passed, message }) =>
        passed || message === undefined ? [] : [message],
      );
      return ['preconditions not met', ...messages].join('; ');
    }
    case 'exception':
      return `rule is skipped due to policy exceptions ${reason.exceptions.join(', ')}`;
    case 'applyRules':
      return `applyRules is One and rule ${reason.after} was applied`;
    case 'matchCondition':
      return `the match condition ${reason.name} is false`;
    case 'parameter':
      return reason.detail;
    case 'ownRequest':
      return 'the background controller sent the request, and skipBackgroundRequests is true';
    case 'userInfo':
      return 'the rule reads the user of the request, and there is no request';
  }
}

/** Describes why a rule could not be evaluated for a trigger, without values from objects. */
export function triggerFailureText(outcome: Extract<TriggerOutcome, { status: 'failed' }>): string {
  return failureText(outcome as unknown as Parameters<typeof failureText>[0]);
}
