import type { Command } from 'commander';
import { withFormat } from '../format-option.ts';
import type { CommandHost } from '../io.ts';
import { withOffline } from '../offline-option.ts';

const examples = `
Reports for each Kyverno policy whether it runs here with the same result, differs (with the command that explains it) or does not
load, and which rules (validate, verifyImages) stay with Kyverno. Changes nothing; kymera convert --to kymera moves policies to
Kymera. Exit codes: 0 all policies that run here run unchanged; 1 a policy differs or does not load; 2 invalid input.

Examples:
  $ kymera migrate check policies/
  $ kymera migrate check policies/ -o json`;

export function defineMigrate(program: Command, { io, end }: CommandHost): void {
  const migrate = program.command('migrate').description('Migrate from Kyverno.');
  withFormat(withOffline(migrate.command('check')), ['table', 'json'], 'table')
    .description('Report which Kyverno policies run unchanged, which differ, and which stay.')
    .argument('<path...>', 'files, folders or globs with policies; - for standard input')
    .option('--no-color', 'print without colors')
    .addHelpText('after', examples)
    .action(async (paths: string[], options) => {
      const { check } = await import('./migrate.ts');
      end(await check(paths, options, io));
    });
}
