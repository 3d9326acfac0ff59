import { problemTexts, type ReportedRow, reportedRow, type TestResults } from './report.ts';
import type { SuiteResult } from './suite.ts';

/** JUnit XML for CI servers: a testsuite per file, a testcase per result. */
export function junitReport({ suites, options }: TestResults): string {
  const parts = suites.map((suite) => {
    const rows = suite.tests.flatMap((test) => test.rows.map((row) => reportedRow(row, options)));
    return { suite, rows, errors: problemTexts(suite) };
  });
  const total = (count: (part: (typeof parts)[number]) => number) =>
    parts.reduce((sum, part) => sum + count(part), 0);
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${total(({ rows, errors }) => rows.length + errors.length)}" failures="${total(({ rows }) => countOf(rows, 'failed'))}" errors="${total(({ errors }) => errors.length)}">`,
    ...parts.flatMap(({ suite, rows, errors }) => suiteLines(suite, rows, errors)),
    '</testsuites>',
  ];
  return `${lines.join('\n')}\n`;
}

function suiteLines(suite: SuiteResult, rows: readonly ReportedRow[], errors: readonly string[]): string[] {
  const skipped = countOf(rows, 'skipped') + countOf(rows, 'unverified');
  return [
    `  <testsuite name="${escapeXml(suite.file)}" tests="${rows.length + errors.length}" failures="${countOf(rows, 'failed')}" errors="${errors.length}" skipped="${skipped}">`,
    ...rows.flatMap((row) => caseLines(row, suite.file)),
    ...errors.flatMap((error) => [
      `    <testcase classname="${escapeXml(suite.file)}" name="read">`,
      `      <error message="${escapeXml(error)}"/>`,
      '    </testcase>',
    ]),
    '  </testsuite>',
  ];
}

function caseLines(
  { policy, rule, resource, expected, outcome, reason, difference }: ReportedRow,
  file: string,
) {
  const name = [policy, rule, resource, expected].filter((part) => part !== '').join(' / ');
  const start = `    <testcase classname="${escapeXml(file)}" name="${escapeXml(name)}"`;
  if (outcome === 'passed') return [`${start}/>`];
  const inner =
    outcome === 'failed'
      ? `<failure message="${escapeXml(reason)}">${escapeXml(difference ?? '')}</failure>`
      : `<skipped message="${escapeXml(reason)}"/>`;
  return [`${start}>`, `      ${inner}`, '    </testcase>'];
}

function countOf(rows: readonly ReportedRow[], outcome: ReportedRow['outcome']): number {
  return rows.filter((row) => row.outcome === outcome).length;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML does not allow control characters. */
function escapeXml(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
      .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replaceAll(/[&<>"]/g, (character) => entities[character] ?? character)
  );
}
