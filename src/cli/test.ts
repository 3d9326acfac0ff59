import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { readDocuments } from '../policy/documents.ts';
import { InputError, inputError } from './input-error.ts';
import { expandInputs } from './input-paths.ts';
import type { ExitCode, Io } from './io.ts';
import { type Paint, paintFor } from './style.ts';
import { parseTest, type TestDocument } from './test-document.ts';
import { countedAs, formatCounts, formatProblems, formatRows, type TestCounts } from './test-report.ts';
import { runTest } from './test-run.ts';
import { expectedObjectReader, setUpTest } from './test-setup.ts';
import { readWhole } from './text-input.ts';

export interface TestOptions {
  readonly fileName: readonly string[];
  readonly lenient?: boolean;
  readonly strictOrder?: boolean;
  readonly color?: boolean;
}

/** `kymera test`: runs test documents and reports what differs from what they expect. */
export async function test(folders: readonly string[], options: TestOptions, io: Io): Promise<ExitCode> {
  const paint = paintFor(io.stdout, io, options.color);
  const files = await findTestFiles(folders, options.fileName, io);
  if (files.length === 0) {
    await io.stdout.write(
      `no test found: there is no ${options.fileName.join(' or ')} in ${folders.join(', ')}\n`,
    );
    return 1;
  }
  const counts: TestCounts = { passed: 0, failed: 0, skipped: 0, warnings: 0 };
  let hasBadInput = false;
  for (const file of files) {
    try {
      await runFile(file, options, io, counts, paint);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      hasBadInput = true;
      await io.stdout.write(`${paint('bold', file)}\n${formatProblems(error.problems, paint)}`);
    }
  }
  const broken = hasBadInput ? '; some tests could not be read' : '';
  await io.stdout.write(`\n${formatCounts(counts)}${broken}\n`);
  if (hasBadInput) return 2;
  return counts.failed > 0 ? 1 : 0;
}

async function runFile(
  file: string,
  options: TestOptions,
  io: Io,
  counts: TestCounts,
  paint: Paint,
): Promise<void> {
  for (const document of await readTests(file, io, paint)) {
    const setup = await setUpTest(document, io);
    const rows = await runTest({ ...setup, test: document, expectedObjects: expectedObjectReader(io) });
    const counted = rows.map((row) => ({ row, as: countedAs(row, options) }));
    for (const { as } of counted) counts[as]++;
    const name = document.name === '' ? '' : ` (${document.name})`;
    await io.stdout.write(
      `${paint('bold', file)}${name}\n${formatProblems(setup.warnings, paint)}${formatRows(counted, paint)}`,
    );
  }
}

async function readTests(file: string, io: Io, paint: Paint): Promise<TestDocument[]> {
  const { documents, problems } = readDocuments({ file, text: await readWhole(file, io) });
  const parsed = documents.map(parseTest);
  const all = [...problems, ...parsed.flatMap((result) => result.problems)];
  const errors = all.filter((problem) => problem.severity === 'error');
  if (errors.length > 0) throw new InputError(errors);
  if (parsed.length === 0) throw inputError('KYM_TEST_INVALID', 'the file is empty', { file });
  if (all.length > 0) await io.stderr.write(formatProblems(all, paint));
  return parsed.flatMap((result) => (result.test === undefined ? [] : [result.test]));
}

/** Test files below folders; a file that is named is a test file whatever its name. */
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
      const found = await expandInputs([name], io.cwd);
      files.push(...found.map(({ file }) => file).filter((file) => fileNames.includes(basename(file))));
    }
  }
  return [...new Set(files)];
}
