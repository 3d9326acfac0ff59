import { type Command, Option } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Looks at policies written for Kyverno: which run here with the same result, which give another one and where that is explained,
which do not load, and which rules (validate, verifyImages) stay with Kyverno. Nothing is changed; kymera convert --to kymera
hands policies over. Exit codes: 0 all that runs here runs unchanged; 1 a policy differs or does not load; 2 bad input.

Examples:
  $ kymera migrate check policies/
  $ kymera migrate check policies/ -o json`;

export function defineMigrate(program: Command, { io, end }: CommandHost): void {
  const migrate = program.command('migrate').description('Move from Kyverno.');
  migrate
    .command('check')
    .description('Say which policies of Kyverno run here unchanged, which differ and how, and which stay.')
    .argument('<path...>', 'files, folders or globs with policies; - for standard input')
    .addOption(
      new Option('-o, --output <format>', 'what to print').choices(['table', 'json']).default('table'),
    )
    .option('--no-color', 'print without colours')
    .addHelpText('after', examples)
    .action(async (paths: string[], options) => {
      const { check } = await import('./migrate.ts');
      end(await check(paths, options, io));
    });
}
