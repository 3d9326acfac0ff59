import type { CompiledPolicy, CompiledRule } from '../policy/compiled.ts';

/** Knows which rule is being evaluated, and may refuse to evaluate it. */
export interface RuleGuard {
  /** Called before a rule is evaluated. Returns the reason why it must fail instead, if there is one. */
  enter(policy: CompiledPolicy, rule: CompiledRule): string | undefined;
  /** Called when evaluation ends or waits for data. */
  leave(): void;
}
