import { type Command, Option } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Errors are what keeps a policy from loading. Warnings name what is deprecated, what can never apply, and what
Kyverno treats otherwise; they also name rules that write one place with different values, that set each other off
without end, or that change an object again when they run twice. For that the rules are tried on examples made from
them, or on the objects of -r. Exit codes: 0 fine, or warnings only; 1 errors (with --strict also warnings);
2 bad input.

Examples:
  $ kymera validate policies/
  $ kymera validate policy.yaml --watch
  $ kymera validate policies/ -r manifests/
  $ kymera validate policies/ --strict --ignore KYM_DIFFERS_FROM_KYVERNO
  $ kymera validate policies/ -o sarif > kymera.sarif`;

export function defineValidate(program: Command, { io, end }: CommandHost): void {
  program
    .command('validate')
    .description('Check policies and exceptions: every problem with its place, and how to mend it.')
    .argument('<policy...>', 'files, folders or globs with policies; - for standard input')
    .addOption(
      new Option('-o, --output <format>', 'how to print problems')
        .choices(['text', 'json', 'sarif', 'github'])
        .default('text'),
    )
    .option(
      '-r, --resource <path...>',
      'objects to try the policies on, instead of examples made from the rules',
    )
    .option('--strict', 'warnings are failures')
    .option('--ignore <code...>', 'leave out problems with these codes, unless they are errors')
    .option('-w, --watch', 'check again whenever a file changes')
    .option('--no-color', 'print without colours')
    .addHelpText('after', examples)
    .action(async (policies: string[], options) => {
      const { validate } = await import('./validate.ts');
      end(await validate(policies, options, io));
    });
}
