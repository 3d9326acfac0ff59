import type { Command } from 'commander';

/** `run` reads the option, because it holds for everything that a command reads. */
export function withOffline(command: Command): Command {
  return command.option('--offline', 'read no https addresses');
}
