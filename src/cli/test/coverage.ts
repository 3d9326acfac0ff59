import type { Outcome } from '../../engine/outcome.ts';
import { equal } from '../../json/equal.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import type { Paint } from '../../offline/output/paint.ts';
import { dotted } from '../../offline/output/tree.ts';
import { visible } from '../../offline/output/visible.ts';
import { parseAnchor } from '../../patch/strategic/anchor-syntax.ts';
import { addedPart } from '../../patch/strategic/condition-parts.ts';
import type { CompiledForeach, CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';

/** The coverage of one rule. Its autogen rules count as the rule itself. */
export interface RuleCoverage {
  readonly file: string;
  readonly policy: string;
  readonly rule: string;
  /** Whether it changed an object. */
  readonly applied: boolean;
  /** foreach bodies: whether an element was evaluated and not skipped. */
  readonly loops: readonly { readonly path: string; readonly ran: boolean }[];
  readonly anchors: readonly AnchorCoverage[];
}

export interface AnchorCoverage {
  readonly anchor: string;
  readonly place: string;
  readonly held: boolean;
  readonly missed: boolean;
}

/** The coverage of rules, from the outcomes of tests. */
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

/** Merges the coverage of the same rule, which several test files may use. */
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

/** The coverage in numbers, followed by the gaps. */
export function coverageText(coverage: readonly RuleCoverage[], paint: Paint): string {
  const loops = coverage.flatMap((one) => one.loops);
  const anchors = coverage.flatMap((one) => one.anchors);
  const shares = [
    share(
      'rules applied',
      coverage.map((one) => one.applied),
      paint,
    ),
    share(
      'foreach bodies run',
      loops.map((loop) => loop.ran),
      paint,
    ),
    share(
      'anchors held',
      anchors.map((anchor) => anchor.held),
      paint,
    ),
  ];
  const lines = ['', `${paint('bold', 'coverage')}: ${shares.flat().join(', ')}`];
  for (const one of coverage) {
    const gaps = gapsOf(one);
    if (gaps.length === 0) continue;
    lines.push(
      `  policy ${paint('bold', visible(one.policy))}, rule ${paint('bold', visible(one.rule))} (${visible(one.file)})`,
    );
    for (const gap of gaps) lines.push(`    ${paint('yellow', '!')} ${visible(gap)}`);
  }
  return `${lines.join('\n')}\n`;
}

function share(what: string, done: readonly boolean[], paint: Paint): string[] {
  if (done.length === 0) return [];
  const count = done.filter(Boolean).length;
  return [`${paint(count === done.length ? 'green' : 'yellow', `${count} of ${done.length}`)} ${what}`];
}

function gapsOf({ applied, loops, anchors }: RuleCoverage): string[] {
  const notHeld = anchors.filter((anchor) => !anchor.held);
  return [
    ...(applied ? [] : ['no test covers a change by this rule']),
    ...loops.filter((loop) => !loop.ran).map(({ path }) => `no test runs the body of ${path}`),
    ...notHeld.map(({ anchor, place, missed }) =>
      missed ? `anchor ${anchor} at ${place} never holds` : `anchor ${anchor} at ${place} is never reached`,
    ),
  ];
}

/** An anchor in a rule. */
export interface WrittenAnchor {
  /** `(image)` */
  readonly anchor: string;
  /** The path in the object: `spec.containers[].image`. */
  readonly place: string;
}

/** The anchors in the strategic merges of a rule, in source order. An anchor inside a condition is part of that condition. */
export function anchorsOf(rule: JsonObject): readonly WrittenAnchor[] {
  const found: WrittenAnchor[] = [];
  collectMerges(rule['mutate'] ?? null, (overlay) => collectAnchors(overlay, '', found));
  return found;
}

/** The path of an evaluated anchor, in the notation of `anchorsOf`. */
export function placeOf(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

function collectMerges(value: Json, use: (overlay: Json) => void): void {
  if (isArray(value)) for (const item of value) collectMerges(item, use);
  if (!isObject(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'patchStrategicMerge') use(inner);
    else if (key === 'foreach') collectMerges(inner, use);
  }
}

function collectAnchors(value: Json, place: string, found: WrittenAnchor[]): void {
  if (isArray(value)) for (const item of value) collectAnchors(item, `${place}[]`, found);
  if (!isObject(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    const anchor = parseAnchor(key);
    const at = `${place}${place === '' ? '' : '.'}${anchor?.key ?? key}`;
    // The value of a key with variables is not known here.
    if (anchor !== undefined && !at.includes('{{')) found.push({ anchor: anchor.text, place: at });
    const isCondition = anchor?.type === 'condition' || anchor?.type === 'global';
    const merged = isCondition ? addedPart(inner) : inner;
    if (merged !== undefined) collectAnchors(merged, at, found);
  }
}
