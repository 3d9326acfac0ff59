import { type Command, Option } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Comments, the order of keys and the lines that need no change stay as they are. A policy that has no exact
equivalent stays too, and the reason is printed. Exit codes: 0 fine; 1 a policy could not be converted;
2 bad input.

Examples:
  $ kymera convert policies/                   show what would change
  $ kymera convert policies/ --write           change the files
  $ kymera convert old-policy.yaml -o yaml     print the result
  $ kymera convert policies/ --to kymera       hand policies over: Kyverno does not see kymera.io
  $ cat old-policy.yaml | kymera convert - -o yaml`;

export function defineConvert(program: Command, { io, end }: CommandHost): void {
  program
    .command('convert')
    .description(
      'Rewrite old policies and deprecated fields in the form of kyverno.io/v1, or hand them over to kymera.io/v1.',
    )
    .argument('<file...>', 'files, folders or globs with policies; - for standard input')
    .addOption(new Option('-o, --output <format>', 'what to print').choices(['diff', 'yaml']).default('diff'))
    .addOption(
      new Option('--to <group>', 'whose policies they become: kyverno.io/v1 or kymera.io/v1')
        .choices(['kyverno', 'kymera'])
        .default('kyverno'),
    )
    .option('-w, --write', 'write the files instead of printing')
    .option('--no-color', 'print without colours')
    .addHelpText('after', examples)
    .action(async (files: string[], options) => {
      const { convert } = await import('./convert.ts');
      end(await convert(files, options, io));
    });
}
