import type { CompiledGenerateRule, CompiledPolicy, CompiledRule } from '../policy/compiled.ts';

/** A rule that runs after admission: mutate existing, or generate. */
export type BackgroundRule =
  | { readonly type: 'mutate'; readonly rule: CompiledRule }
  | { readonly type: 'generate'; readonly rule: CompiledGenerateRule };

/** In policy order; autogen rules come last. */
export function backgroundRules(policy: CompiledPolicy): readonly BackgroundRule[] {
  const rules: readonly BackgroundRule[] = [
    ...policy.rules.flatMap((rule): BackgroundRule[] =>
      rule.targets === undefined || rule.mutation.type === 'cel' ? [] : [{ type: 'mutate', rule }],
    ),
    ...policy.generateRules.map((rule): BackgroundRule => ({ type: 'generate', rule })),
  ];
  return rules.toSorted((left, right) => position(left) - position(right));
}

function position({ rule }: BackgroundRule): number {
  return rule.autogenOf === undefined ? Number(rule.path[2] ?? 0) : Number.MAX_SAFE_INTEGER;
}
