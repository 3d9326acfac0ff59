import type { Command } from 'commander';
import { withFormat } from '../format-option.ts';
import { inputOptions, type ParsedInputOptions, withInput } from '../input/input-options.ts';
import type { CommandHost } from '../io.ts';

interface ParsedExplainOptions extends ParsedInputOptions {
  readonly format: 'text' | 'json';
  readonly logLevel: 'error' | 'warn' | 'info';
}

const examples = `
Exit codes: 0 success; 1 a rule failed; 2 invalid input.

Examples:
  $ kymera explain policy.yaml -r pod.yaml
  $ kymera explain policies/ -r pod.yaml -o json`;

export function defineExplain(program: Command, { io, end }: CommandHost): void {
  withFormat(withInput(program.command('explain')), ['text', 'json'], 'text')
    .description('Show for each resource what every rule did, or why it was skipped.')
    .option('--show-secrets', 'show the values of Secrets instead of ***')
    .addHelpText('after', examples)
    .action(async (policies: string[], parsed: ParsedExplainOptions) => {
      const options = inputOptions(policies, parsed);
      const { explain } = await import('./explain.ts');
      end(await explain(policies, options, io));
    });
}
