import { type Command, Option } from 'commander';
import type { CommandHost } from '../command-host.ts';
import { explainExamples } from '../help-examples.ts';
import { inputOptions, type ParsedInputOptions, withInput } from '../input/input-options.ts';

interface ParsedExplainOptions extends ParsedInputOptions {
  readonly output: 'text' | 'json';
  readonly logLevel: 'error' | 'warn' | 'info';
}

export function defineExplain(program: Command, { io, end }: CommandHost): void {
  withInput(program.command('explain'))
    .description('Say for every rule what it did to each resource, or why it did nothing.')
    .addOption(new Option('-o, --output <format>', 'what to print').choices(['text', 'json']).default('text'))
    .addHelpText('after', explainExamples)
    .action(async (policies: string[], parsed: ParsedExplainOptions) => {
      const options = inputOptions(policies, parsed);
      const { explain } = await import('./explain.ts');
      end(await explain(policies, options, io));
    });
}
