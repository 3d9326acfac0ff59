import { isArray, isObject, type Json } from '../../json/value.ts';
import { tidyObject } from '../../offline/compare-objects.ts';
import { maskPair } from '../../offline/output/mask-secrets.ts';
import { type Paint, plain } from '../../offline/output/paint.ts';
import { unifiedDiff } from '../../offline/output/unified-diff.ts';
import { visible } from '../../offline/output/visible.ts';
import type { TestRow } from '../../offline/test/rows.ts';
import type { Problem } from '../../problem.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { formatProblem } from '../problem-text.ts';
import type { RuleCoverage } from './coverage.ts';
import type { SuiteResult } from './suite.ts';

export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
  warnings: number;
}

/** How a row is counted with the given options. */
export function countedAs(
  row: TestRow,
  options: { lenient?: boolean | undefined; strictOrder?: boolean | undefined },
): keyof TestCounts {
  if (row.verdict === 'unverified') return options.lenient === true ? 'warnings' : 'failed';
  if (row.orderDiffers === true && options.strictOrder === true) return 'failed';
  return row.verdict;
}

const marks = {
  passed: ['green', '✓'],
  failed: ['red', '✗'],
  skipped: ['yellow', '-'],
  warnings: ['yellow', '!'],
} as const;

/** The rows of one test document as a table, each with its differences below. */
export function formatRows(
  rows: readonly { row: TestRow; as: keyof TestCounts }[],
  paint: Paint,
  showSecrets = false,
): string {
  const cells = rows.map(({ row }) =>
    [row.policy, row.rule || '(all rules)', row.resource, row.expected].map(visible),
  );
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(0, ...cells.map((line) => (line[column] ?? '').length)),
  );
  let text = '';
  for (const [index, { row, as }] of rows.entries()) {
    const [color, mark] = marks[as];
    const columns = (cells[index] ?? []).map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
    text += `  ${paint(color, mark)} ${`${columns}  ${visible(row.reason)}`.trimEnd()}\n`;
    if (row.difference !== undefined) text += indent(differenceOf(row.difference, paint, showSecrets));
  }
  return text;
}

/** A unified diff of the expected and the actual object. */
export function differenceOf(
  { expected, actual }: NonNullable<TestRow['difference']>,
  paint: Paint,
  showSecrets: boolean,
): string {
  const titles = { before: 'expected', after: 'actual' };
  const [before, after] = showSecrets ? [expected, actual] : maskPair(expected, actual);
  return unifiedDiff(titles, writeYaml(sortKeys(before)), writeYaml(sortKeys(after)), paint);
}

/** Sorts keys, because their order is not compared. */
function sortKeys(object: Parameters<typeof tidyObject>[0]) {
  const sorted = (value: Json): Json => {
    if (isArray(value)) return value.map(sorted);
    if (!isObject(value)) return value;
    const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(members.map(([key, member]) => [key, sorted(member)]));
  };
  return sorted(tidyObject(object));
}

export function formatCounts(counts: TestCounts): string {
  const parts = [`${counts.passed} passed`, `${counts.failed} failed`];
  if (counts.skipped > 0) parts.push(`${counts.skipped} skipped`);
  if (counts.warnings > 0) parts.push(`${counts.warnings} not verified`);
  return parts.join(', ');
}

export function formatProblems(problems: readonly Problem[], paint: Paint): string {
  return indent(problems.map((problem) => `${formatProblem(problem, paint)}\n`).join(''));
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '    ');
}

export interface TestResults {
  readonly suites: readonly SuiteResult[];
  readonly counts: TestCounts;
  readonly options: {
    readonly lenient?: boolean | undefined;
    readonly strictOrder?: boolean | undefined;
    readonly showSecrets?: boolean | undefined;
  };
  readonly coverage?: readonly RuleCoverage[] | undefined;
}

/** One row of a report. */
export interface ReportedRow {
  readonly policy: string;
  readonly rule: string;
  readonly resource: string;
  readonly expected: string;
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'unverified';
  readonly reason: string;
  /** A unified diff of expected and actual. */
  readonly difference?: string | undefined;
}

export function reportedRow(row: TestRow, options: TestResults['options']): ReportedRow {
  const as = countedAs(row, options);
  const { policy, rule, resource, expected, reason } = row;
  return {
    policy,
    rule,
    resource,
    expected,
    outcome: as === 'warnings' ? 'unverified' : as,
    reason,
    ...(row.difference === undefined
      ? {}
      : { difference: differenceOf(row.difference, plain, options.showSecrets === true) }),
  };
}

export function problemTexts(suite: SuiteResult): string[] {
  return suite.errors.map((problem) => formatProblem(problem, plain));
}
