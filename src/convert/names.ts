/** What a name is made of. */
export interface NamedGroup {
  readonly rules: readonly string[];
  /** All rules of the policy, or all that autogen made for the same controllers, if there are several. */
  readonly isWhole: boolean;
  /** Plural names of the resources that the policy is for. */
  readonly resources: readonly string[];
}

/** Names of the policies that groups of rules become. Policies for the same resources sort by name as the rules run. */
export function policyNames(policy: string, groups: readonly NamedGroup[]): readonly string[] {
  const names = groups.map((group) => resourceName(`${policy}${suffix(group)}`));
  const isSorted = groups.every((group, index) =>
    groups
      .slice(0, index)
      .every((before, other) => !overlap(before, group) || (names[other] ?? '') < (names[index] ?? '')),
  );
  if (isSorted && new Set(names).size === names.length) return names;
  const width = String(names.length).length;
  return groups.map((group, index) =>
    resourceName(`${policy}-${String(index + 1).padStart(width, '0')}-${group.rules.join('-')}`),
  );
}

/** What autogen puts before the name of a rule: rules with different prefixes match different kinds. */
export function autogenPrefix(rule: string): string {
  return /^autogen-(?:cronjob-)?/.exec(rule)?.[0] ?? '';
}

function suffix({ rules, isWhole }: NamedGroup): string {
  if (!isWhole) return `-${rules.join('-')}`;
  const prefix = autogenPrefix(rules[0] ?? '');
  return prefix === '' ? '' : `-${prefix.slice(0, -1)}`;
}

type WithResources = Pick<NamedGroup, 'resources'>;

/** Whether an object can be of both. */
export function overlap(left: WithResources, right: WithResources): boolean {
  const isOpen = ({ resources }: WithResources): boolean => resources.some((name) => name.includes('*'));
  return isOpen(left) || isOpen(right) || left.resources.some((name) => right.resources.includes(name));
}

const longestName = 63;

/** A DNS label; names of rules may contain anything. */
function resourceName(text: string): string {
  const name = text.toLowerCase().replace(/[^a-z0-9.-]+/g, '-');
  return name.slice(0, longestName).replace(/^[-.]+|[-.]+$/g, '');
}
