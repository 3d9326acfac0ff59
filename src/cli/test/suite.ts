import { dirname, join } from 'node:path';
import { parseTest, type TestDocument } from '../../offline/test/document.ts';
import type { TestFilter } from '../../offline/test/filter.ts';
import { runTest, type TestRow } from '../../offline/test/rows.ts';
import { setUpTest } from '../../offline/test/setup.ts';
import { readDocuments } from '../../policy/documents.ts';
import { InputError, inputError, type Problem } from '../../problem.ts';
import { commandEnvironment } from '../environment.ts';
import type { PolicyInputOptions } from '../input/policy-input.ts';
import { readWhole } from '../input/text-input.ts';
import type { Io } from '../io.ts';
import { type RuleCoverage, ruleCoverage } from './coverage.ts';
import { expectedObjectReader, testFiles } from './files.ts';

/** The result of one test file. Plain data, because it may come from another thread. */
export interface SuiteResult {
  readonly file: string;
  readonly tests: readonly TestReport[];
  /** Errors in the file or in the files that it names. */
  readonly errors: readonly Problem[];
  /** The files and folders that the test reads. */
  readonly inputs: readonly string[];
}

export interface TestReport {
  readonly name: string;
  readonly warnings: readonly Problem[];
  readonly rows: readonly TestRow[];
  readonly coverage: readonly RuleCoverage[];
}

/** Runs every test of a file. */
export async function runSuite(
  file: string,
  filter: TestFilter | undefined,
  io: Io,
  options: PolicyInputOptions & { readonly strict?: boolean | undefined } = {},
): Promise<SuiteResult> {
  const tests: TestReport[] = [];
  const inputs: string[] = [file];
  try {
    const { documents, warnings } = await readTests(file, io);
    for (const document of documents) {
      inputs.push(...inputsOf(document));
      const setup = await setUpTest(document, testFiles(io, options), commandEnvironment, options);
      const { rows, outcomes } = await runTest({
        ...setup,
        test: document,
        filter,
        expectedObjects: expectedObjectReader(io),
      });
      tests.push({
        name: document.name,
        warnings: [...warnings.splice(0), ...setup.warnings],
        rows,
        coverage: ruleCoverage(setup.policies, outcomes),
      });
    }
    return { file, tests, errors: [], inputs };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { file, tests, errors: error.problems, inputs };
  }
}

async function readTests(file: string, io: Io): Promise<{ documents: TestDocument[]; warnings: Problem[] }> {
  const { documents, problems } = readDocuments({ file, text: await readWhole(file, io) });
  const parsed = await Promise.all(documents.map((document) => parseTest(document, commandEnvironment)));
  const all = [...problems, ...parsed.flatMap((result) => result.problems)];
  const errors = all.filter((problem) => problem.severity === 'error');
  if (errors.length > 0) throw new InputError(errors);
  if (parsed.length === 0) throw inputError('KYM_TEST_INVALID', 'the file is empty', { file });
  return {
    documents: parsed.flatMap((result) => (result.test === undefined ? [] : [result.test])),
    warnings: all,
  };
}

function inputsOf(test: TestDocument): string[] {
  const names = [
    ...test.policies,
    ...test.resources,
    ...test.otherResources,
    ...test.exceptions,
    ...test.results.flatMap(({ patchedResources }) => patchedResources ?? []),
    ...[test.valuesFile, test.userInfoFile].flatMap((name) => name ?? []),
  ];
  return names.map((name) => (name.startsWith('/') ? name : join(dirname(test.file), name)));
}
