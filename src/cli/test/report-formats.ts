import { parseJson, stringifyJson } from '../../json/json-text.ts';
import type { JsonObject } from '../../json/value.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { formatCounts, problemTexts, type ReportedRow, reportedRow, type TestResults } from './report.ts';
import { junitReport } from './report-junit.ts';

export type ReportFormat = 'json' | 'yaml' | 'markdown' | 'junit' | 'tap';

export function formatReport(format: ReportFormat, results: TestResults): string {
  switch (format) {
    case 'json':
      return `${stringifyJson(asData(results), 2)}\n`;
    case 'yaml':
      return writeYaml(asData(results));
    case 'markdown':
      return markdown(results);
    case 'junit':
      return junitReport(results);
    case 'tap':
      return tap(results);
  }
}

function asData({ suites, counts, options, coverage }: TestResults): JsonObject {
  const { passed, failed, skipped, warnings } = counts;
  const data = {
    summary: { passed, failed, skipped, unverified: warnings },
    suites: suites.map((suite) => ({
      file: suite.file,
      errors: problemTexts(suite),
      tests: suite.tests.map(({ name, rows }) => ({
        name,
        results: rows.map((row) => reportedRow(row, options)),
      })),
    })),
    coverage,
  };
  return parseJson(stringifyJson(data)) as JsonObject;
}

function rowsOf({ suites, options }: TestResults): ReportedRow[] {
  return suites.flatMap((suite) =>
    suite.tests.flatMap((test) => test.rows.map((row) => reportedRow(row, options))),
  );
}

function markdown(results: TestResults): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const lines = ['| result | policy | rule | resource | expected | reason |', '|---|---|---|---|---|---|'];
  for (const { outcome, policy, rule, resource, expected, reason } of rowsOf(results)) {
    lines.push(`| ${[outcome, policy, rule, resource, expected, reason].map(cell).join(' | ')} |`);
  }
  const errors = results.suites.flatMap(problemTexts).map((text) => `- ${cell(text)}`);
  return `${[...lines, '', ...errors, formatCounts(results.counts)].join('\n')}\n`;
}

/** Test Anything Protocol, version 14. */
function tap(results: TestResults): string {
  const rows = rowsOf(results);
  const errors = results.suites.flatMap(problemTexts);
  const lines = ['TAP version 14', `1..${rows.length + errors.length}`];
  const text = (value: string) => value.replaceAll(/[#\\]/g, '\\$&').replaceAll('\n', ' ');
  for (const [index, row] of rows.entries()) {
    const name = text(`${row.policy} ${row.rule} ${row.resource} ${row.expected}`.replaceAll(/ +/g, ' '));
    const isOk = row.outcome !== 'failed';
    const skip =
      row.outcome === 'skipped' || row.outcome === 'unverified' ? ` # SKIP ${text(row.reason)}` : '';
    lines.push(`${isOk ? 'ok' : 'not ok'} ${index + 1} - ${name}${skip}`);
    if (!isOk) lines.push(...diagnostics(row));
  }
  for (const [index, error] of errors.entries()) {
    lines.push(`not ok ${rows.length + index + 1} - ${text(error)}`);
  }
  return `${lines.join('\n')}\n`;
}

function diagnostics({ reason, difference }: ReportedRow): string[] {
  const data = writeYaml({ message: reason, ...(difference === undefined ? {} : { difference }) });
  return [
    '  ---',
    ...data
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`.trimEnd()),
    '  ...',
  ];
}
