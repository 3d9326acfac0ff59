import { type Command, Option } from 'commander';
import { didYouMean } from '../../expression/did-you-mean.ts';
import type { ApplyFormat } from '../../offline/output/apply-formats.ts';
import { inputError } from '../../problem.ts';
import { inputOptions, type ParsedInputOptions, withInput } from '../input/input-options.ts';
import type { CommandHost } from '../io.ts';

interface ParsedApplyOptions extends ParsedInputOptions {
  readonly format?: ApplyFormat | undefined;
  readonly output?: string | undefined;
  readonly quiet?: boolean | undefined;
  readonly stdin?: boolean | undefined;
  readonly table?: boolean | undefined;
  readonly logLevel: 'error' | 'warn' | 'info';
}

const examples = `
A path is a file, a folder (all .yaml, .yml and .json files in it), a glob, or - for standard input. -r takes
every path after it up to the next option, so name policies first. Policies among the resources are not
mutated. Nothing is written unless all input is valid.

Exit codes: 0 success; 1 a rule failed; 2 invalid input.

Examples:
  $ kymera apply policy.yaml -r pod.yaml                     show the differences
  $ kymera apply policies/ -r pod.yaml -o blame              show which rule wrote each line
  $ kymera apply policies/ -r 'manifests/**/*.yaml' -o yaml  print all mutated objects
  $ kymera apply policies/ -r manifests --output out/        write them to files
  $ kustomize build . | kymera apply policies/ -r - -o yaml  in a pipe
  $ kymera apply policy.yaml -r pod.yaml --set request.operation=UPDATE
  $ kymera apply policy.yaml -r pod.yaml --values values.yaml --userinfo user.yaml -o patch`;

export function defineApply(program: Command, { io, end }: CommandHost): void {
  withInput(program.command('apply'))
    .description('Apply policies to resources and print the differences. Never writes to a cluster.')
    .addOption(
      new Option('-o, --format <format>', 'output format (default: diff, or yaml with --output)')
        .choices(applyFormats)
        .argParser(readFormat),
    )
    .option('--output <path>', 'write to a file, or to a folder as NAME-mutated.yaml per object')
    .option('-q, --quiet', 'print no summary and no progress')
    .addOption(new Option('-i, --stdin').hideHelp())
    .addOption(new Option('-t, --table').hideHelp())
    .option('--show-secrets', 'show the values of Secrets in a diff instead of ***')
    .addHelpText('after', examples)
    .action(async (policies: string[], parsed: ParsedApplyOptions) => {
      const options = inputOptions(policies, parsed);
      const { apply } = await import('./apply.ts');
      end(await apply(policies, { ...options, format: formatOf(parsed) }, io));
    });
}

function readFormat(text: string): ApplyFormat {
  const format = applyFormats.find((known) => known === text);
  if (format !== undefined) return format;
  const similar = didYouMean(text, applyFormats);
  throw inputError('KYM_USAGE', `-o ${text}: the formats are ${applyFormats.join(', ')}`, {
    hint: similar === undefined ? `use --output ${text} to write to a file` : `did you mean -o ${similar}?`,
  });
}

function formatOf({ format, output, stdin, table }: ParsedApplyOptions): ApplyFormat {
  if (format === undefined && applyFormats.some((known) => known === output)) {
    throw inputError('KYM_USAGE', `--output takes a file and -o a format: ${output} is a format`, {
      hint: `write -o ${output}, or --output ./${output}`,
    });
  }
  if (format !== undefined) return format;
  if (table === true) return 'table';
  return stdin === true || output !== undefined ? 'yaml' : 'diff';
}

export const applyFormats = [
  'diff',
  'blame',
  'yaml',
  'json',
  'patch',
  'table',
] as const satisfies readonly ApplyFormat[];
