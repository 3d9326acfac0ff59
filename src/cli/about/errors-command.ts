import type { Command } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Examples:
  $ kymera errors KYM_VARIABLE_UNRESOLVED     what it means and how to fix it
  $ kymera errors as-in-foreach               a difference from Kyverno that a message names
  $ kymera errors                             all codes`;

export function defineErrors(program: Command, { io, end }: CommandHost): void {
  program
    .command('errors')
    .description('Explain error codes, and differences from Kyverno: the cause and the fix.')
    .argument('[code...]', 'codes or topics from messages')
    .addHelpText('after', examples)
    .action(async (codes: string[]) => {
      const { explainErrors } = await import('./errors.ts');
      end(await explainErrors(codes, io));
    });
}
