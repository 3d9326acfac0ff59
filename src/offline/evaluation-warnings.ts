import type { CompiledPolicy, CompiledRuleHead } from '../policy/compiled.ts';
import type { Problem } from '../problem.ts';

/** A rule that ran on an object, such as an outcome of the engine. */
interface Ran {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRuleHead;
  readonly warnings?: readonly string[] | undefined;
}

/** What CEL policies did to an object that their authors hardly meant. Each warning once. */
export function evaluationWarnings(title: string, runs: readonly Ran[]): readonly Problem[] {
  const found = new Map<string, Problem>();
  for (const { policy, rule, warnings = [] } of runs) {
    for (const text of warnings) {
      const warning: Problem = {
        code: 'KYM_APPLY_CONFIGURATION',
        severity: 'warning',
        message: `${title}: ${text}`,
        policy: policy.key,
        rule: rule.name,
        pointer: '/spec/mutations',
        file: policy.source.file,
      };
      found.set(`${policy.key} ${rule.name} ${text}`, warning);
    }
  }
  return [...found.values()];
}
