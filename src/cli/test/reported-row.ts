import { plain } from '../output/style.ts';
import { formatProblem } from '../problem-text.ts';
import type { RuleCoverage } from './coverage.ts';
import { countedAs, differenceOf, type TestCounts } from './report.ts';
import type { TestRow } from './rows.ts';
import type { SuiteResult } from './suite.ts';

export interface TestResults {
  readonly suites: readonly SuiteResult[];
  readonly counts: TestCounts;
  readonly options: { readonly lenient?: boolean | undefined; readonly strictOrder?: boolean | undefined };
  readonly coverage?: readonly RuleCoverage[] | undefined;
}

/** One row as reports tell it. */
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
    ...(row.difference === undefined ? {} : { difference: differenceOf(row.difference, plain) }),
  };
}

export function problemTexts(suite: SuiteResult): string[] {
  return suite.errors.map((problem) => formatProblem(problem, plain));
}
