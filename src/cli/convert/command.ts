import { type Command, Option } from 'commander';
import { inputError } from '../../problem.ts';
import { withFormat } from '../format-option.ts';
import type { CommandHost, ExitCode } from '../io.ts';
import { withOffline } from '../offline-option.ts';
import type { ConvertOptions } from './convert.ts';
import type { ConvertToCelOptions } from './convert-to-cel.ts';
import type { ConversionTarget } from './file.ts';

const examples = `
Comments, the order of keys and unaffected lines are kept. A policy without an exact equivalent is not changed, and
the reason is printed. Exit codes: 0 success; 1 a policy could not be converted, or differs; 2 invalid input.

--to mutatingpolicy and --to map convert rules to CEL. Old and new policy run on the objects of -r, on those of the
policy's tests, and on objects generated from the policy; the first difference is printed, and nothing is written.

Examples:
  $ kymera convert policies/                   show the changes
  $ kymera convert policies/ --write           change the files
  $ kymera convert old-policy.yaml -o yaml     print the result
  $ kymera convert policies/ --to kymera       move policies to kymera.io, which Kyverno ignores
  $ kymera convert policies/ --to mutatingpolicy -r objects/ --report report
  $ kymera convert policy.yaml --to map -o yaml
  $ cat old-policy.yaml | kymera convert - -o yaml`;

export function defineConvert(program: Command, { io, end }: CommandHost): void {
  withFormat(withOffline(program.command('convert')), ['diff', 'yaml'], 'diff')
    .description(
      'Convert policies to kyverno.io/v1, kymera.io/v1 or CEL (MutatingPolicy, MutatingAdmissionPolicy).',
    )
    .argument('<file...>', 'files, folders or globs with policies; - for standard input')
    .addOption(
      new Option('--to <form>', 'kyverno.io/v1, kymera.io/v1, MutatingPolicy or MutatingAdmissionPolicy')
        .choices(['kyverno', 'kymera', 'mutatingpolicy', 'map'])
        .default('kyverno'),
    )
    .option('-w, --write', 'write the files instead of printing')
    .option('-r, --resource <path...>', 'objects on which old and new CEL policies are compared')
    .option('--partial', 'convert the rules that can be converted to CEL, and keep the others')
    .option(
      '--report <name>',
      'write a report on the conversion to CEL as HTML and Markdown, under this name',
    )
    .option('--no-color', 'print without colors')
    .addHelpText('after', examples)
    .action(async (files: string[], options) => {
      end(await runConvert(files, options, io));
    });
}

async function runConvert(
  files: readonly string[],
  options: Omit<ConvertOptions, 'to'> &
    Omit<ConvertToCelOptions, 'to'> & { readonly to: ConversionTarget | 'mutatingpolicy' | 'map' },
  io: CommandHost['io'],
): Promise<ExitCode> {
  if (options.write === true && files.includes('-'))
    throw inputError('KYM_USAGE', '--write requires files, not standard input');
  if (options.to === 'mutatingpolicy' || options.to === 'map') {
    const { convertToCel } = await import('./convert-to-cel.ts');
    return convertToCel(files, { ...options, to: options.to }, io);
  }
  for (const flag of ['resource', 'partial', 'report'] as const) {
    if (options[flag] !== undefined)
      throw inputError('KYM_USAGE', `--${flag} requires --to mutatingpolicy or --to map`);
  }
  const { convert } = await import('./convert.ts');
  return convert(files, { ...options, to: options.to }, io);
}
