import type { CompiledGenerateRule, CompiledPolicy, CompiledRule } from '../policy/compiled.ts';

/** A rule that runs after admission: mutate existing, or generate. */
export type BackgroundRule =
  | { readonly type: 'mutate'; readonly rule: CompiledRule }
  | { readonly type: 'generate'; readonly rule: CompiledGenerateRule };

/** In policy order; autogen rules come last. */
export function backgroundRules(policy: CompiledPolicy): readonly BackgroundRule[] {
  const rules: readonly BackgroundRule[] = [
    ...policy.rules.flatMap((rule): BackgroundRule[] =>
      mutatesExisting(rule) ? [{ type: 'mutate', rule }] : [],
    ),
    ...policy.generateRules.map((rule): BackgroundRule => ({ type: 'generate', rule })),
  ];
  return rules.toSorted((left, right) => position(left) - position(right));
}

/** A MutatingPolicy that may not mutate existing objects has no targets. */
function mutatesExisting({ targets, mutation }: CompiledRule): boolean {
  return targets !== undefined && (mutation.type !== 'cel' || mutation.program.targets !== undefined);
}

function position({ rule }: BackgroundRule): number {
  return rule.autogenOf === undefined ? Number(rule.path[2] ?? 0) : Number.MAX_SAFE_INTEGER;
}
