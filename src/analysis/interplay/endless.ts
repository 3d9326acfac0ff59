import { diff } from '../../json/diff/diff.ts';
import { equal } from '../../json/equal.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import type { RuleUnderTest } from './conflict.ts';
import type { Example } from './example-object.ts';
import { feedingGroups } from './feeding.ts';
import { onlyRule, tryOut } from './trial.ts';

/** Rules whose changes set one another off, so that an object never comes to rest. */
export interface EndlessLoop {
  readonly rules: readonly { readonly policy: CompiledPolicy; readonly rule: CompiledRule }[];
  readonly example: Example;
  /** A place that goes on changing, as a pointer. */
  readonly place: string;
}

/** Rounds after which what still changes is taken never to stop: no sound chain of rules is that long. */
const mostRounds = 8;

/** `rules` in the order in which they run; those that are restless by themselves are left out by the caller. */
export function findEndlessLoops(rules: readonly RuleUnderTest[]): readonly EndlessLoop[] {
  return feedingGroups(rules).flatMap((group) => {
    for (const example of group.flatMap(({ examples }) => examples)) {
      const loop = runOn(group, example);
      if (loop !== undefined) return [loop];
    }
    return [];
  });
}

function runOn(group: readonly RuleUnderTest[], example: Example): EndlessLoop | undefined {
  const all = goesOn(group, example);
  if (all === undefined) return undefined;
  const least = all.rules.reduce<Unrest>((rest, rule) => {
    const others = rest.rules.filter((other) => other !== rule);
    return goesOn(others, example) ?? rest;
  }, all);
  // Rules that all act at once contradict each other; a loop needs one that acts on what another did.
  const isLoop = least.rules.some((rule) => changes(rule, example, example.object) === undefined);
  return least.rules.length > 1 && isLoop ? { ...least, example } : undefined;
}

interface Unrest {
  readonly rules: readonly RuleUnderTest[];
  readonly place: string;
}

/** The rules that still change the object after many rounds; undefined when it comes to rest. */
function goesOn(rules: readonly RuleUnderTest[], example: Example): Unrest | undefined {
  let object = example.object;
  let active: RuleUnderTest[] = [];
  let place = '';
  for (let round = 0; round < mostRounds; round++) {
    active = [];
    for (const each of rules) {
      const next = changes(each, example, object);
      if (next === undefined) continue;
      place = diff(object, next)[0]?.path ?? place;
      active.push(each);
      object = next;
    }
    if (active.length === 0) return undefined;
  }
  return { rules: active, place };
}

function changes(
  { policy, rule }: RuleUnderTest,
  example: Example,
  object: JsonObject,
): JsonObject | undefined {
  const trial = tryOut([onlyRule(policy, rule)], example, object, 0);
  return trial.failed || trial.applied.length === 0 || equal(trial.object, object) ? undefined : trial.object;
}
