import { refTitle } from '../../src/background/object-identity.ts';
import { actionOf, type PlannedChange } from '../../src/offline/output/planned-changes.ts';
import { writeYaml } from '../../src/yaml/writer.ts';
import { plainLines } from './diff-lines.ts';
import type { BackgroundChange } from './evaluation.ts';

/** A change that a mutate existing or generate rule makes after admission. */
export function backgroundChange(change: PlannedChange): BackgroundChange {
  const { ref, before, after, steps } = change;
  return {
    title: refTitle(ref),
    action: actionOf(change),
    rules: [...new Set(steps.map(({ policy, rule }) => `${policy.key} › ${rule.name}`))],
    lines: plainLines(
      before === undefined ? '' : writeYaml(before),
      after === undefined ? '' : writeYaml(after),
    ),
  };
}
