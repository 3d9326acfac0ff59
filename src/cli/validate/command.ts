import type { Command } from 'commander';
import { withFormat } from '../format-option.ts';
import type { CommandHost } from '../io.ts';
import { withOffline } from '../offline-option.ts';

const examples = `
Errors prevent a policy from loading. Warnings report deprecated fields, rules that can never apply, and differences
from Kyverno. They also report rules that write different values to one field, that trigger each other endlessly, or
that are not idempotent. To find these, the rules run on examples derived from them, or on the objects of -r.
Exit codes: 0 no errors; 1 errors (with --strict also warnings); 2 invalid input.

Examples:
  $ kymera validate policies/
  $ kymera validate policy.yaml --watch
  $ kymera validate policies/ -r manifests/
  $ kymera validate policies/ --strict --ignore KYM_DIFFERS_FROM_KYVERNO
  $ kymera validate policies/ -o sarif > kymera.sarif`;

export function defineValidate(program: Command, { io, end }: CommandHost): void {
  withFormat(withOffline(program.command('validate')), ['text', 'json', 'sarif', 'github'], 'text')
    .description('Check policies and exceptions: report every problem with its location and a fix.')
    .argument('<policy...>', 'files, folders or globs with policies; - for standard input')
    .option('-r, --resource <path...>', 'run the policies on these objects instead of derived examples')
    .option('--strict', 'treat warnings as errors')
    .option('--ignore <code...>', 'ignore warnings with these codes')
    .option('-w, --watch', 'check again when a file changes')
    .option('--no-color', 'print without colors')
    .addHelpText('after', examples)
    .action(async (policies: string[], options) => {
      const { validate } = await import('./validate.ts');
      end(await validate(policies, options, io));
    });
}
