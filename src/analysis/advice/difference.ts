import type { Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';

/** Sections of docs/differences-from-kyverno.md that can be detected from a policy alone. */
const sections = {
  anchoredItems: 'several-anchored-items-in-one-list-are-independent',
  leak: 'nothing-leaks-from-one-item-to-the-next',
  nameless: 'anchored-items-need-no-name',
  custom: 'anchored-items-of-custom-resources-are-patched-in-place',
  keyless: 'a-keyed-item-says-which-one-it-means',
  furtherDown: 'anchors-further-down-reach-every-item',
  emptyMap: 'empty-maps-can-be-added',
  imageless: 'a-container-is-never-added-without-an-image',
  directives: 'directives-are-never-written',
  smaller: 'smaller-differences',
  condition: 'a-condition-is-only-a-condition',
  oldMembership: 'in-and-notin-with-a-single-value',
  nested: 'a-nested-variable-cannot-change-its-expression',
  self: '-works-in-foreach',
  nestedLoop: 'autogen-leaves-nested-loops-alone',
  as: 'as-in-foreach',
  replacements: 'replacement-rules',
  serviceCalls: 'a-namespaced-policy-calls-only-its-own-services',
  globalReference: 'a-namespaced-policy-reads-only-annotated-global-context-entries',
} as const;

export type Difference = keyof typeof sections;

/** The anchors of the sections; a test checks that they exist. */
export const differenceSections: Readonly<Record<Difference, string>> = sections;

export function reportDifference(
  reporter: Reporter,
  path: Path,
  difference: Difference,
  message: string,
  advice?: string,
): void {
  const see = `See: kymera errors ${sections[difference].replace(/^-+/, '')}`;
  reporter.warn(path, 'KYM_DIFFERS_FROM_KYVERNO', message, advice === undefined ? see : `${advice} ${see}`);
}
