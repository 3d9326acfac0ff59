import { type Command, Option } from 'commander';
import { inputError } from '../../problem.ts';
import { withFormat } from '../format-option.ts';
import type { CommandHost } from '../io.ts';
import { withOffline } from '../offline-option.ts';
import type { ReportFormat } from './report-formats.ts';
import type { ReportFile, TestOptions } from './run.ts';

const examples = `
Whole objects are compared; null and empty values equal absent ones. A result that cannot be verified (no such
rule, object or expected document) is a failure, or a warning with --lenient.

Exit codes: 0 all tests passed; 1 a test failed, or no test was found; 2 invalid input.

Examples:
  $ kymera test tests/
  $ kymera test tests/ --filter policy=p,resource=web --fail-only
  $ kymera test tests/ --coverage --report junit=report.xml
  $ kymera test --lenient kyverno-policies/`;

export function defineTest(program: Command, { io, end }: CommandHost): void {
  withFormat(withOffline(program.command('test')), ['text', ...reportFormats], 'text', 'output-format')
    .description('Run the tests in kyverno-test.yaml and kymera-test.yaml files below the folders.')
    .argument('<folder...>', 'folders with tests, or test files')
    .option('-f, --file-name <name...>', 'names of test files', ['kyverno-test.yaml', 'kymera-test.yaml'])
    .option('-t, --filter <filter...>', 'only matching results: policy=a*,rule=b,resource=c, or a substring')
    .addOption(new Option('--test-case-selector <filter...>').hideHelp())
    .option('--lenient', 'a result that cannot be verified is a warning, not a failure')
    .option('--strict', 'a rule fails if an API call that it needs is not made')
    .option('--strict-order', 'a different order of list items with a merge key is a failure')
    .option(
      '--strict-compat',
      "evaluate CEL policies as Kyverno does where Kymera's result differs on purpose",
    )
    .option('--fail-only', 'print only failures')
    .option('--report <format=file...>', 'also write a report to a file: junit=report.xml')
    .option('--coverage', 'also report rules, foreach bodies and anchors that no test covers')
    .option('--update', 'update expected files that differ')
    .option('--force', 'allow --update in a CI run')
    .option('-w, --watch', 'run again when a file changes')
    .option('-j, --jobs <count>', 'number of threads (default: depends on the number of files)', readCount)
    .option('--show-secrets', 'show the values of Secrets instead of ***')
    .option('-q, --quiet', 'print nothing when all tests pass')
    .option('--no-color', 'print without colors')
    .addOption(new Option('--remove-color').hideHelp())
    .addOption(new Option('--require-tests').hideHelp())
    .addOption(new Option('--detailed-results').hideHelp())
    .addHelpText('after', examples)
    .action(async (folders: string[], parsed: ParsedTestOptions) => {
      const { test } = await import('./run.ts');
      const filter = [...(parsed.filter ?? []), ...(parsed.testCaseSelector ?? [])];
      const color = parsed.removeColor === true ? { color: false } : {};
      const report = parsed.report?.map(parseReport);
      end(await test(folders, { ...parsed, filter, report, ...color }, io));
    });
}

interface ParsedTestOptions extends Omit<TestOptions, 'report'> {
  readonly report?: readonly string[] | undefined;
  readonly testCaseSelector?: readonly string[] | undefined;
  readonly removeColor?: boolean | undefined;
}

function readCount(text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw inputError('KYM_USAGE', `--jobs ${text}: write a number from 1 to 999`);
}

const reportFormats = ['json', 'yaml', 'markdown', 'junit', 'tap'] as const satisfies ReportFormat[];

/** @example parseReport('junit=report.xml') // { format: 'junit', file: 'report.xml' } */
function parseReport(text: string): ReportFile {
  const [name = '', ...rest] = text.split('=');
  const format = reportFormats.find((known) => known === name);
  const file = rest.join('=');
  if (format !== undefined && file !== '') return { format, file };
  throw inputError(
    'KYM_USAGE',
    `--report ${text}: write FORMAT=FILE; formats are ${reportFormats.join(', ')}`,
  );
}
