import { diff } from '../../json/diff/diff.ts';
import { equal } from '../../json/equal.ts';
import { parsePointer } from '../../json/pointer.ts';
import { type Json, valueAt } from '../../json/value.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import type { Example } from './example-object.ts';
import { tryOut } from './trial.ts';

/** A rule that changes an object again after its policy has already run. */
export interface NonIdempotentRule {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledRule;
  readonly example: Example;
  /** Pointer to a value that differs. */
  readonly place: string;
  /** The value after one run and after two; undefined when absent. */
  readonly once: Json | undefined;
  readonly twice: Json | undefined;
}

/**
 * Runs a policy twice on examples. A policy that is not idempotent changes an object on every update, and when the API
 * server reinvokes the webhook.
 */
export function findNonIdempotentRules(
  policy: CompiledPolicy,
  examples: readonly Example[],
): readonly NonIdempotentRule[] {
  const found = new Map<string, NonIdempotentRule>();
  for (const example of examples) {
    const first = tryOut([policy], example, example.object, 0);
    if (first.failed || first.applied.length === 0) continue;
    const second = tryOut([policy], example, first.object, 1);
    if (second.failed || equal(first.object, second.object)) continue;
    const rule = second.applied[0];
    const name = rule?.autogenOf ?? rule?.name ?? '';
    if (rule === undefined || found.has(name)) continue;
    const place = diff(first.object, second.object)[0]?.path ?? '';
    const path = parsePointer(place);
    found.set(name, {
      policy,
      rule,
      example,
      place,
      once: valueAt(first.object, path),
      twice: valueAt(second.object, path),
    });
  }
  return [...found.values()];
}
