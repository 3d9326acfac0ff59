import type { Command } from 'commander';
import type { CommandHost } from '../io.ts';

export function defineVersion(program: Command, { io }: CommandHost): void {
  program
    .command('version')
    .description('Print the version of kymera and of Node.js.')
    .action(async () => {
      await io.stdout.write(`kymera ${program.version() ?? ''}\nNode.js ${process.version}\n`);
    });
}
