import type { Command } from 'commander';
import type { CommandHost } from './command-host.ts';
import { testExamples } from './help-examples.ts';

export function defineTest(program: Command, { io, end }: CommandHost): void {
  program
    .command('test')
    .description(
      'Run the tests in kyverno-test.yaml and kymera-test.yaml files, searched for below the folders.',
    )
    .argument('<folder...>', 'folders with tests, or test files')
    .option('-f, --file-name <name...>', 'names of test files', ['kyverno-test.yaml', 'kymera-test.yaml'])
    .option('--lenient', 'a result that nothing verifies is a warning, not a failure')
    .option('--strict-order', 'a difference in the order of list items with a merge key is a failure')
    .option('--no-color', 'print without colours')
    .addHelpText('after', testExamples)
    .action(async (folders: string[], options) => {
      const { test } = await import('./test.ts');
      end(await test(folders, options, io));
    });
}
