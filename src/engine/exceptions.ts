import { EvaluationError, type Scope } from '../expression/scope.ts';
import type { CompiledException, CompiledPolicy, CompiledRuleHead } from '../policy/compiled.ts';
import { matchingBlock } from './match.ts';
import type { MatchSubject } from './match-subject.ts';

/** Keys of the exceptions that exempt an object from a rule. An autogen rule must be named explicitly. */
export function matchingExceptions(
  exceptions: readonly CompiledException[],
  policy: CompiledPolicy,
  rule: CompiledRuleHead,
  subject: MatchSubject,
  scope: Scope,
): readonly string[] {
  return exceptions
    .filter((exception) => names(exception, policy, rule))
    .filter((exception) => matchingBlock(exception.match, subject, 'exception') !== undefined)
    .filter((exception) => conditionsHold(exception, scope))
    .map((exception) => exception.key);
}

function names(exception: CompiledException, policy: CompiledPolicy, rule: CompiledRuleHead): boolean {
  return exception.exceptions.some(
    ({ policyName, ruleNames }) =>
      policyName === policy.key && ruleNames.some((ruleName) => ruleName.matches(rule.name)),
  );
}

/** An exception whose conditions cannot be evaluated does not apply. */
function conditionsHold(exception: CompiledException, scope: Scope): boolean {
  if (exception.conditions === undefined) return true;
  try {
    return exception.conditions.evaluate(scope).passed;
  } catch (error) {
    if (error instanceof EvaluationError) return false;
    throw error;
  }
}
