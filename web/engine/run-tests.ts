import { parseTest, type TestDocument } from '../../src/offline/test/document.ts';
import { runTest, type TestRow } from '../../src/offline/test/rows.ts';
import { setUpTest } from '../../src/offline/test/setup.ts';
import { readDocuments } from '../../src/policy/documents.ts';
import { InputError } from '../../src/problem.ts';
import { writeYaml } from '../../src/yaml/writer.ts';
import { plainLines } from './diff-lines.ts';
import { pageEnvironment } from './environment.ts';
import type { TestFileResult, TestRowResult } from './evaluation.ts';
import { expectedObjects, filesOf, pageTestFiles } from './test-files.ts';
import type { SourceText, Workspace } from './workspace.ts';

/** Whether a file is a test document. */
export function isTest({ text }: SourceText): boolean {
  return /^kind:\s*["']?Test["']?\s*$/m.test(text);
}

/** Runs the test documents of the workspace, as `kymera test` does. */
export async function runTests(workspace: Workspace): Promise<TestFileResult[]> {
  const files = filesOf(workspace);
  const results: TestFileResult[] = [];
  for (const source of workspace.tests.filter(isTest)) results.push(await runFile(source, files));
  return results;
}

async function runFile(source: SourceText, files: readonly SourceText[]): Promise<TestFileResult> {
  const rows: TestRowResult[] = [];
  try {
    for (const document of await readTests(source)) {
      const setup = await setUpTest(document, pageTestFiles(files), pageEnvironment);
      const found = await runTest({
        ...setup,
        test: document,
        filter: undefined,
        expectedObjects: (path) => expectedObjects(files, path),
      });
      rows.push(...found.rows.map(showRow));
    }
    return { file: source.name, rows, errors: [] };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { file: source.name, rows, errors: error.problems.map(errorText) };
  }
}

/** Throws InputError. */
export async function readTests({ name, text }: SourceText): Promise<TestDocument[]> {
  const { documents, problems } = readDocuments({ file: name, text });
  const parsed = await Promise.all(documents.map((document) => parseTest(document, pageEnvironment)));
  const all = [...problems, ...parsed.flatMap((result) => result.problems)];
  const errors = all.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new InputError(errors);
  return parsed.flatMap(({ test }) => (test === undefined ? [] : [test]));
}

function errorText({ file, line, message }: InputError['problems'][number]): string {
  return `${file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `}${message}`;
}

function showRow({ policy, rule, resource, expected, verdict, reason, difference }: TestRow): TestRowResult {
  return {
    policy,
    rule,
    resource,
    expected,
    // As in `kymera test`, a row that cannot be verified fails.
    verdict: verdict === 'unverified' ? 'failed' : verdict,
    reason,
    lines:
      difference === undefined
        ? []
        : plainLines(writeYaml(difference.expected), writeYaml(difference.actual)),
  };
}
