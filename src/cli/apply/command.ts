import { type Command, Option } from 'commander';
import { inputError } from '../../problem.ts';
import type { CommandHost } from '../command-host.ts';
import { applyExamples } from '../help-examples.ts';
import { inputOptions, type ParsedInputOptions, withInput } from '../input/input-options.ts';
import { type ApplyFormat, applyFormats } from './formats.ts';

interface ParsedApplyOptions extends ParsedInputOptions {
  readonly format?: ApplyFormat | undefined;
  readonly output?: string | undefined;
  readonly quiet?: boolean | undefined;
  readonly stdin?: boolean | undefined;
  readonly table?: boolean | undefined;
  readonly logLevel: 'error' | 'warn' | 'info';
}

export function defineApply(program: Command, { io, end }: CommandHost): void {
  withInput(program.command('apply'))
    .description('Apply policies to resources and print the difference. Nothing in a cluster is touched.')
    .addOption(
      new Option('-o, --format <format>', 'what to print; diff when absent, yaml with --output')
        .choices(applyFormats)
        .argParser(readFormat),
    )
    .option('--output <path>', 'write to a file, or to a folder: NAME-mutated.yaml for each object')
    .option('-q, --quiet', 'print no summary and no progress')
    .addOption(new Option('-i, --stdin').hideHelp())
    .addOption(new Option('-t, --table').hideHelp())
    .addHelpText('after', applyExamples)
    .action(async (policies: string[], parsed: ParsedApplyOptions) => {
      const options = inputOptions(policies, parsed);
      const { apply } = await import('./apply.ts');
      end(await apply(policies, { ...options, format: formatOf(parsed) }, io));
    });
}

function readFormat(text: string): ApplyFormat {
  const format = applyFormats.find((known) => known === text);
  if (format !== undefined) return format;
  throw inputError('KYM_USAGE', `-o ${text}: formats are ${applyFormats.join(', ')}`, {
    hint: `to write to a file: --output ${text}`,
  });
}

function formatOf({ format, output, stdin, table }: ParsedApplyOptions): ApplyFormat {
  if (format === undefined && applyFormats.some((known) => known === output)) {
    throw inputError('KYM_USAGE', `--output ${output} names a file, and -o a format`, {
      hint: `write -o ${output}, or --output ./${output}`,
    });
  }
  if (format !== undefined) return format;
  if (table === true) return 'table';
  return stdin === true || output !== undefined ? 'yaml' : 'diff';
}
