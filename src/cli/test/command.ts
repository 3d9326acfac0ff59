import { type Command, Option } from 'commander';
import { inputError } from '../../problem.ts';
import type { CommandHost } from '../io.ts';
import type { ReportFormat } from './report-formats.ts';
import type { ReportFile, TestOptions } from './run.ts';

const examples = `
Whole objects are compared; null and empty are as good as absent. A result that nothing verifies (no such
rule, object or expected document) is a failure, or a warning with --lenient.

Exit codes: 0 all tests passed; 1 a test failed, or there is none; 2 bad input.

Examples:
  $ kymera test tests/
  $ kymera test tests/ --filter policy=p,resource=web --fail-only
  $ kymera test tests/ --coverage --report junit=report.xml
  $ kymera test --lenient kyverno-policies/`;

export function defineTest(program: Command, { io, end }: CommandHost): void {
  program
    .command('test')
    .description(
      'Run the tests in kyverno-test.yaml and kymera-test.yaml files, searched for below the folders.',
    )
    .argument('<folder...>', 'folders with tests, or test files')
    .option('-f, --file-name <name...>', 'names of test files', ['kyverno-test.yaml', 'kymera-test.yaml'])
    .option(
      '-t, --filter <filter...>',
      'only results that fit: policy=a*,rule=b,resource=c, or a text that is looked for',
    )
    .addOption(new Option('--test-case-selector <filter...>').hideHelp())
    .option('--lenient', 'a result that nothing verifies is a warning, not a failure')
    .option('--strict-order', 'a difference in the order of list items with a merge key is a failure')
    .option('--fail-only', 'print only what failed')
    .addOption(
      new Option('-o, --output-format <format>', 'what to print')
        .choices(['text', ...reportFormats])
        .default('text'),
    )
    .option('--report <format=file...>', 'write a report to a file as well: junit=report.xml')
    .option('--coverage', 'also tell which rules, foreach bodies and anchors no test exercised')
    .option('--update', 'write what policies make of objects into expected files that differ')
    .option('--force', 'let --update write in a CI run')
    .option('-w, --watch', 'run again whenever a file changes')
    .option('-j, --jobs <count>', 'how many threads; as many as pay when absent', readCount)
    .option('-q, --quiet', 'print nothing when all is well')
    .option('--no-color', 'print without colours')
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
