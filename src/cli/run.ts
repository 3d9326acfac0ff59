import { Command, CommanderError, Option } from 'commander';
import { defineCompletion } from './completion-command.ts';
import { defineConvert } from './convert-command.ts';
import { defineCreate } from './create-command.ts';
import { applyExamples, explainExamples, programExamples, testExamples } from './help-examples.ts';
import { InputError } from './input-error.ts';
import type { ExitCode, Io } from './io.ts';
import { defineJp } from './jp-command.ts';
import { formatProblem } from './problem-text.ts';
import { paintFor } from './style.ts';
import { defineValidate } from './validate-command.ts';

/**
 * Runs the program with these arguments (without `node` and the script). Commands are imported when they
 * are run: starting up loads nothing but the option parser.
 */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const program = createProgram(io, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof InputError)) throw error;
    const paint = paintFor(io.stderr, io, argv.includes('--no-color') ? false : undefined);
    await io.stderr.write(error.problems.map((problem) => `${formatProblem(problem, paint)}\n`).join(''));
    return 2;
  }
}

/** The program and its commands; nothing runs until it parses arguments. */
export function createProgram(io: Io, end: (code: ExitCode) => void): Command {
  const program = new Command('kymera')
    .description(
      'Kyverno-compatible mutation for Kubernetes: see what policies make of objects, and test them.',
    )
    .version(process.env['KYMERA_VERSION'] ?? 'development')
    .addHelpText('after', programExamples)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });

  withInput(program.command('apply'))
    .description('Apply policies to resources and print the difference. Nothing in a cluster is touched.')
    .addOption(
      new Option('-o, --output <format>', 'what to print')
        .choices(['diff', 'yaml', 'json', 'patch'])
        .default('diff'),
    )
    .option('-q, --quiet', 'print no summary')
    .addHelpText('after', applyExamples)
    .action(async (policies: string[], options) => {
      const { apply } = await import('./apply.ts');
      end(await apply(policies, options, io));
    });

  withInput(program.command('explain'))
    .description('Say for every rule what it did to each resource, or why it did nothing.')
    .addOption(new Option('-o, --output <format>', 'what to print').choices(['text', 'json']).default('text'))
    .addHelpText('after', explainExamples)
    .action(async (policies: string[], options) => {
      const { explain } = await import('./explain.ts');
      end(await explain(policies, options, io));
    });

  program
    .command('test')
    .description(
      'Run the tests in kyverno-test.yaml and kymera-test.yaml files, searched for below the folders.',
    )
    .argument('<folder...>', 'folders with tests, or test files')
    .option('-f, --file-name <name...>', 'names of test files', ['kyverno-test.yaml', 'kymera-test.yaml'])
    .option('--lenient', 'a result that nothing verifies is a warning, not a failure')
    .option('--strict-order', 'a difference in the order of list items with a merge key is a failure')
    .option('--no-color', 'print without colours')
    .addHelpText('after', testExamples)
    .action(async (folders: string[], options) => {
      const { test } = await import('./test.ts');
      end(await test(folders, options, io));
    });
  const host = { io, end };
  defineValidate(program, host);
  defineConvert(program, host);
  defineJp(program, host);
  defineCreate(program, host);
  defineCompletion(program, host);
  return program;
}

function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** Arguments and options that `apply` and `explain` share. */
function withInput(command: Command): Command {
  return command
    .argument('<policy...>', 'files, folders or globs with policies; - for standard input')
    .requiredOption(
      '-r, --resource <path...>',
      'files, folders or globs with resources; - for standard input',
    )
    .addOption(new Option('-f, --values <file>', 'a Values document: request, context and namespace labels'))
    .option('-s, --set <key=value>', 'single values: request.operation=UPDATE,cm.data.env=prod', collect)
    .option('-u, --userinfo <file>', 'a UserInfo document: who makes the request')
    .option('-e, --exceptions <path...>', 'files, folders or globs with PolicyExceptions')
    .option('--no-color', 'print without colours');
}
