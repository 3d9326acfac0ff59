import { Argument, type Command } from 'commander';
import type { CommandHost } from '../io.ts';

const examples = `
Examples:
  $ kymera completion bash > ~/.local/share/bash-completion/completions/kymera
  $ kymera completion zsh > ~/.zfunc/_kymera
  $ kymera completion fish > ~/.config/fish/completions/kymera.fish`;

export function defineCompletion(program: Command, { io, end }: CommandHost): void {
  program
    .command('completion')
    .description('Print a shell completion script for commands, flags, values and files.')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', examples)
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScript } = await import('./completion.ts');
      await io.stdout.write(completionScript(shell, program));
      end(0);
    });
}
