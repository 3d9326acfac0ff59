import type { Outcome } from '../../engine/outcome.ts';
import { equal } from '../../json/equal.ts';
import type { Path } from '../../json/value.ts';
import type { CompiledForeach, CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import { dotted } from '../explain/tree.ts';
import { anchorsOf, placeOf } from './rule-anchors.ts';

/** What tests made of one rule that its author wrote; rules made from it for pod controllers count as itself. */
export interface RuleCoverage {
  readonly file: string;
  readonly policy: string;
  readonly rule: string;
  /** Whether it changed an object. */
  readonly applied: boolean;
  /** Bodies of loops: whether one of their elements was patched, or could have been. */
  readonly loops: readonly { readonly path: string; readonly ran: boolean }[];
  readonly anchors: readonly AnchorCoverage[];
}

export interface AnchorCoverage {
  readonly anchor: string;
  readonly place: string;
  readonly held: boolean;
  readonly missed: boolean;
}

/** Coverage of the rules by what became of them. */
export function ruleCoverage(
  policies: readonly CompiledPolicy[],
  outcomes: readonly Outcome[],
): RuleCoverage[] {
  return policies.flatMap((policy) =>
    policy.rules
      .filter((rule) => rule.autogenOf === undefined)
      .map((rule) => {
        const own = [rule, ...policy.rules.filter((other) => other.autogenOf === rule.name)].map((variant) =>
          variantCoverage(policy, variant, outcomes),
        );
        return own.reduce(merge);
      }),
  );
}

/** Both have seen the same rule; it may stand in several test files. */
function merge(a: RuleCoverage, b: RuleCoverage): RuleCoverage {
  return {
    ...a,
    applied: a.applied || b.applied,
    loops: a.loops.map((loop, index) => ({ ...loop, ran: loop.ran || b.loops[index]?.ran === true })),
    anchors: a.anchors.map((anchor, index) => ({
      ...anchor,
      held: anchor.held || b.anchors[index]?.held === true,
      missed: anchor.missed || b.anchors[index]?.missed === true,
    })),
  };
}

export function mergeCoverage(all: readonly RuleCoverage[]): RuleCoverage[] {
  const merged = new Map<string, RuleCoverage>();
  for (const one of all) {
    const key = `${one.file}\n${one.policy}\n${one.rule}`;
    const known = merged.get(key);
    merged.set(key, known === undefined ? one : merge(known, one));
  }
  return [...merged.values()];
}

function variantCoverage(
  policy: CompiledPolicy,
  rule: CompiledRule,
  outcomes: readonly Outcome[],
): RuleCoverage {
  const own = outcomes.filter((outcome) => outcome.rule === rule);
  const elements = own.flatMap((outcome) =>
    outcome.status === 'applied' || outcome.status === 'unchanged' ? (outcome.elements ?? []) : [],
  );
  const tried = own.flatMap((outcome) => outcome.trace?.anchors ?? []);
  return {
    file: policy.source.file,
    policy: policy.key,
    rule: rule.name,
    applied: own.some((outcome) => outcome.status === 'applied'),
    loops: loopsOf(rule).map((path) => ({
      path: dotted(path),
      ran: elements.some(({ entry, status }) => status !== 'skipped' && equal([...entry], [...path])),
    })),
    anchors: anchorsOf(rule.document).map(({ anchor, place }) => {
      const here = tried.filter((one) => one.anchor === anchor && placeOf(one.path) === place);
      return {
        anchor,
        place,
        held: here.some((one) => one.held),
        missed: here.some((one) => !one.held),
      };
    }),
  };
}

function loopsOf({ mutation }: CompiledRule): Path[] {
  const bodies = (entry: CompiledForeach): Path[] =>
    entry.body.type === 'foreach' ? entry.body.entries.flatMap(bodies) : [entry.path];
  return mutation.type === 'foreach' ? mutation.entries.flatMap(bodies) : [];
}
