import { spendSteps } from '../json/budget.ts';
import { compareText } from './go/format.ts';

export interface Version {
  readonly numbers: readonly [string, string, string];
  readonly prerelease: readonly string[];
}

const number = '(0|[1-9]\\d*)';
const identifiers = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const versionSyntax = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-(${identifiers}))?(?:\\+${identifiers})?$`,
);

/** Strict semantic versions only: three numbers, no `v`, no leading zeroes. */
export function parseVersion(text: string): Version | undefined {
  const match = versionSyntax.exec(text);
  if (match === null) return undefined;
  const [, major = '', minor = '', patch = '', tail] = match;
  const prerelease = tail === undefined ? [] : tail.split('.');
  if (prerelease.some((part) => /^0\d+$/.test(part))) return undefined;
  return { numbers: [major, minor, patch], prerelease };
}

export function compareVersions(a: Version, b: Version): number {
  for (let i = 0; i < 3; i++) {
    const order = compareNumbers(a.numbers[i] ?? '', b.numbers[i] ?? '');
    if (order !== 0) return order;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0)
    return b.prerelease.length - a.prerelease.length;
  for (let i = 0; i < Math.min(a.prerelease.length, b.prerelease.length); i++) {
    const order = compareIdentifiers(a.prerelease[i] ?? '', b.prerelease[i] ?? '');
    if (order !== 0) return order;
  }
  return a.prerelease.length - b.prerelease.length;
}

function compareNumbers(a: string, b: string): number {
  return a.length - b.length || compareText(a, b);
}

function compareIdentifiers(a: string, b: string): number {
  const numericA = /^\d+$/.test(a);
  const numericB = /^\d+$/.test(b);
  if (numericA && numericB) return compareNumbers(a, b);
  if (numericA !== numericB) return numericA ? -1 : 1;
  return compareText(a, b);
}

export type VersionTest = (version: Version) => boolean;

const comparisons: Readonly<Record<string, (order: number) => boolean>> = {
  '': (order) => order === 0,
  '=': (order) => order === 0,
  '==': (order) => order === 0,
  '!': (order) => order !== 0,
  '!=': (order) => order !== 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
};

/**
 * A range such as `>1.0.0 <2.0.0 || 5.x`: a space means AND, `||` means OR and binds more weakly.
 * Throws an Error that names the part that does not parse.
 */
export function compileVersionRange(text: string): VersionTest {
  const parts = text
    .replace(/([<>=])\s+/g, '$1')
    .split(' ')
    .filter((part) => part.length > 1);
  spendSteps(parts.length << 5);
  const alternatives: VersionTest[][] = [[]];
  for (const part of parts) {
    if (part === '||') alternatives.push([]);
    else alternatives.at(-1)?.push(...compileComparison(part));
  }
  if (alternatives[0]?.length === 0 && alternatives.length > 1)
    throw new Error("First element in range is '||'");
  if (alternatives.at(-1)?.length === 0) throw new Error("Last element in range is '||'");
  return (version) => alternatives.some((tests) => tests.every((test) => test(version)));
}

function compileComparison(part: string): VersionTest[] {
  const digit = part.search(/\d/);
  if (digit < 0) throw new Error(`Could not get version from string: ${JSON.stringify(part)}`);
  const operator = part.slice(0, digit);
  const version = part.slice(digit);
  return /(^|\.)x$/.test(version)
    ? expandWildcard(operator, version, part)
    : [compare(operator, version, part)];
}

/** `1.x` and `1.2.x` stand for all versions with that prefix. The bounds depend on the operator. */
function expandWildcard(operator: string, wildcard: string, part: string): VersionTest[] {
  const [major = '', minor = 'x'] = wildcard.split('.');
  const [lower, upper] =
    minor === 'x'
      ? [`${major}.0.0`, `${increment(major)}.0.0`]
      : [`${major}.${minor}.0`, `${major}.${increment(minor)}.0`];
  switch (operator) {
    case '>':
      return [compare('>=', upper, part)];
    case '>=':
      return [compare('>=', lower, part)];
    case '<':
      return [compare('<', lower, part)];
    case '<=':
      return [compare('<', upper, part)];
    case '!':
    case '!=': {
      const below = compare('<', lower, part);
      const above = compare('>=', upper, part);
      return [(version) => below(version) || above(version)];
    }
    default:
      return [compare('>=', lower, part), compare('<', upper, part)];
  }
}

function increment(digits: string): string {
  return /^\d{1,30}$/.test(digits) ? String(BigInt(digits) + 1n) : digits;
}

function compare(operator: string, text: string, part: string): VersionTest {
  const accepts = Object.hasOwn(comparisons, operator) ? comparisons[operator] : undefined;
  if (accepts === undefined)
    throw new Error(`Could not parse Range ${JSON.stringify(part)}: unknown comparator`);
  const bound = parseVersion(text);
  if (bound === undefined) {
    throw new Error(
      `Could not parse Range ${JSON.stringify(part)}: ${JSON.stringify(text)} is not a version`,
    );
  }
  return (version) => accepts(compareVersions(version, bound));
}
