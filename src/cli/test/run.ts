import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Paint } from '../../offline/output/paint.ts';
import { visible } from '../../offline/output/visible.ts';
import { parseFilter } from '../../offline/test/filter.ts';
import { inputError } from '../../problem.ts';
import { expandInputs } from '../input/input-paths.ts';
import { watchInputs } from '../input/watch.ts';
import type { ExitCode, Io } from '../io.ts';
import { writeFiles } from '../output/result-output.ts';
import { paintFor } from '../output/style.ts';
import { coverageText, mergeCoverage } from './coverage.ts';
import { runSuites } from './pool.ts';
import type { TestResults } from './report.ts';
import { countedAs, formatCounts, formatProblems, formatRows, type TestCounts } from './report.ts';
import { formatReport, type ReportFormat } from './report-formats.ts';
import type { SuiteResult } from './suite.ts';
import { updateExpected } from './update.ts';

/** A report that is written to a file. */
export interface ReportFile {
  readonly format: ReportFormat;
  readonly file: string;
}

export interface TestOptions {
  readonly fileName: readonly string[];
  readonly lenient?: boolean | undefined;
  readonly strictOrder?: boolean | undefined;
  readonly strict?: boolean | undefined;
  readonly strictCompat?: boolean | undefined;
  readonly failOnly?: boolean | undefined;
  readonly filter?: readonly string[] | undefined;
  readonly format?: 'text' | ReportFormat | undefined;
  readonly report?: readonly ReportFile[] | undefined;
  readonly coverage?: boolean | undefined;
  readonly update?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly watch?: boolean | undefined;
  readonly jobs?: number | undefined;
  readonly quiet?: boolean | undefined;
  readonly color?: boolean | undefined;
  readonly showSecrets?: boolean | undefined;
}

/** `kymera test`: runs test documents and reports differences from the expected results. */
export async function test(folders: readonly string[], options: TestOptions, io: Io): Promise<ExitCode> {
  if (options.update === true && io.env['CI'] === 'true' && options.force !== true) {
    throw inputError('KYM_USAGE', '--update writes files, which a CI run must not do', {
      hint: 'run it locally and review the changes, or use --force',
    });
  }
  if (options.watch !== true) return (await testOnce(folders, options, io)).exitCode;
  let inputs: readonly string[] = [];
  return watchInputs(
    {
      names: () => [...folders, ...inputs],
      title: `kymera test ${folders.join(' ')}`,
      color: options.color,
      run: async () => {
        const run = await testOnce(folders, options, io);
        inputs = run.inputs;
        return run.exitCode;
      },
    },
    io,
  );
}

async function testOnce(
  folders: readonly string[],
  options: TestOptions,
  io: Io,
): Promise<{ exitCode: ExitCode; inputs: readonly string[] }> {
  const filter = options.filter ?? [];
  parseFilter(filter);
  const format = options.format ?? 'text';
  const isText = format === 'text';
  const paint = paintFor(io.stdout, io, options.color);
  const files = await findTestFiles(folders, options.fileName, io);
  if (files.length === 0) {
    const location = `${options.fileName.join(' or ')} in ${folders.join(', ')}`;
    await (isText ? io.stdout : io.stderr).write(`no test found: there is no ${location}\n`);
    return { exitCode: 1, inputs: [] };
  }
  const counts: TestCounts = { passed: 0, failed: 0, skipped: 0, warnings: 0 };
  const suites: SuiteResult[] = [];
  for await (const suite of runSuites(
    files,
    { filter, jobs: options.jobs, strict: options.strict, strictCompat: options.strictCompat },
    io,
  )) {
    suites.push(suite);
    const text = suiteText(suite, options, counts, paint);
    if (isText) await io.stdout.write(text);
  }
  const hasBadInput = suites.some((suite) => suite.errors.length > 0);
  const coverage = mergeCoverage(suites.flatMap((suite) => suite.tests.flatMap((one) => one.coverage)));
  const results: TestResults = {
    suites,
    counts,
    options,
    ...(options.coverage === true ? { coverage } : {}),
  };
  const reports = options.report ?? [];
  await writeFiles(
    reports.map((report) => ({ file: report.file, text: formatReport(report.format, results) })),
    io,
  );
  if (!isText) await io.stdout.write(formatReport(format, results));
  else {
    if (options.coverage === true) await io.stdout.write(coverageText(coverage, paint));
    const broken = hasBadInput ? '; some tests are invalid' : '';
    const isSilent = options.quiet === true && counts.failed === 0 && !hasBadInput;
    if (!isSilent) await io.stdout.write(`\n${formatCounts(counts)}${broken}\n`);
  }
  if (options.update === true) await updateAll(suites, io);
  const nothingLeft = counts.passed + counts.failed + counts.skipped + counts.warnings === 0;
  if (nothingLeft && !hasBadInput) await io.stderr.write('no test matches the filter\n');
  const exitCode = hasBadInput ? 2 : counts.failed > 0 || nothingLeft ? 1 : 0;
  return { exitCode, inputs: suites.flatMap((suite) => suite.inputs) };
}

async function updateAll(suites: readonly SuiteResult[], io: Io): Promise<void> {
  const rows = suites.flatMap((suite) => suite.tests.flatMap((one) => one.rows));
  const written = await updateExpected(rows, io);
  for (const { file, objects } of written) {
    await io.stderr.write(`wrote ${file}: ${objects} object${objects === 1 ? '' : 's'}\n`);
  }
  if (written.length === 0) await io.stderr.write('all expected files are up to date\n');
}

function suiteText(suite: SuiteResult, options: TestOptions, counts: TestCounts, paint: Paint): string {
  const isShort = options.failOnly === true || options.quiet === true;
  let text = '';
  for (const { name, warnings, rows } of suite.tests) {
    const counted = rows.map((row) => ({ row, as: countedAs(row, options) }));
    for (const { as } of counted) counts[as]++;
    const shown = isShort ? counted.filter(({ as }) => as === 'failed') : counted;
    if (shown.length === 0 && (isShort || rows.length === 0)) continue;
    const title = name === '' ? '' : visible(` (${name})`);
    text += `${paint('bold', visible(suite.file))}${title}\n${formatProblems(warnings, paint)}${formatRows(shown, paint, options.showSecrets)}`;
  }
  if (suite.errors.length > 0)
    text += `${paint('bold', visible(suite.file))}\n${formatProblems(suite.errors, paint)}`;
  return text;
}

/**
 * Test files below folders, also below `.kyverno-test`, where Kyverno's policy library has its tests. A file that the
 * user names is a test file with any name.
 */
async function findTestFiles(
  names: readonly string[],
  fileNames: readonly string[],
  io: Io,
): Promise<string[]> {
  const files: string[] = [];
  for (const name of names) {
    const stats = await stat(resolve(io.cwd, name)).catch(() => undefined);
    if (stats?.isFile()) files.push(name);
    else {
      const found = await expandInputs([name], io.cwd, { hiddenFolders: true });
      files.push(...found.map(({ file }) => file).filter((file) => fileNames.includes(basename(file))));
    }
  }
  return [...new Set(files)];
}
