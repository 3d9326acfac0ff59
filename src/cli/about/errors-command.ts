import type { Command } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Examples:
  $ kymera errors KYM_VARIABLE_UNRESOLVED     what it means and how to fix it
  $ kymera errors                             all codes`;

export function defineErrors(program: Command, { io, end }: CommandHost): void {
  program
    .command('errors')
    .description('Explain error codes: the cause and the fix.')
    .argument('[code...]', 'codes from messages, with or without KYM_')
    .addHelpText('after', examples)
    .action(async (codes: string[]) => {
      const { explainErrors } = await import('./errors.ts');
      end(await explainErrors(codes, io));
    });
}
