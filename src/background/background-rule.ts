import type { CompiledGenerateRule, CompiledPolicy, CompiledRule } from '../policy/compiled.ts';

/** A rule that acts after the request: on existing objects, or by making some. */
export type BackgroundRule =
  | { readonly type: 'mutate'; readonly rule: CompiledRule }
  | { readonly type: 'generate'; readonly rule: CompiledGenerateRule };

/** In the order they were written; those that autogen added come last. */
export function backgroundRules(policy: CompiledPolicy): readonly BackgroundRule[] {
  const rules: readonly BackgroundRule[] = [
    ...policy.rules.flatMap((rule): BackgroundRule[] =>
      rule.targets === undefined ? [] : [{ type: 'mutate', rule }],
    ),
    ...policy.generateRules.map((rule): BackgroundRule => ({ type: 'generate', rule })),
  ];
  return rules.toSorted((left, right) => place(left) - place(right));
}

function place({ rule }: BackgroundRule): number {
  return rule.autogenOf === undefined ? Number(rule.path[2] ?? 0) : Number.MAX_SAFE_INTEGER;
}
