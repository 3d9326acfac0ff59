import { type Command, Option } from 'commander';
import { withFormat } from '../format-option.ts';
import type { CommandHost } from '../io.ts';
import { withOffline } from '../offline-option.ts';

const examples = `
Comments, the order of keys and unaffected lines are kept. A policy without an exact equivalent is not changed, and
the reason is printed. Exit codes: 0 success; 1 a policy could not be converted; 2 invalid input.

Examples:
  $ kymera convert policies/                   show the changes
  $ kymera convert policies/ --write           change the files
  $ kymera convert old-policy.yaml -o yaml     print the result
  $ kymera convert policies/ --to kymera       move policies to kymera.io, which Kyverno ignores
  $ cat old-policy.yaml | kymera convert - -o yaml`;

export function defineConvert(program: Command, { io, end }: CommandHost): void {
  withFormat(withOffline(program.command('convert')), ['diff', 'yaml'], 'diff')
    .description(
      'Convert old policies and deprecated fields to kyverno.io/v1, or move policies to kymera.io/v1.',
    )
    .argument('<file...>', 'files, folders or globs with policies; - for standard input')
    .addOption(
      new Option('--to <group>', 'API group of the result: kyverno.io/v1 or kymera.io/v1')
        .choices(['kyverno', 'kymera'])
        .default('kyverno'),
    )
    .option('-w, --write', 'write the files instead of printing')
    .option('--no-color', 'print without colors')
    .addHelpText('after', examples)
    .action(async (files: string[], options) => {
      const { convert } = await import('./convert.ts');
      end(await convert(files, options, io));
    });
}
