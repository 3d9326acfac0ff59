import { type Command, Option } from 'commander';

/**
 * Adds `-o, --format`. The option's name in earlier versions stays as a hidden alias, unless the command uses it for a path.
 */
export function withFormat(
  command: Command,
  formats: readonly string[],
  defaultFormat: string,
  formerName = 'output',
): Command {
  return command
    .addOption(new Option('-o, --format <format>', 'output format').choices(formats).default(defaultFormat))
    .addOption(new Option(`--${formerName} <format>`).choices(formats).hideHelp())
    .on(`option:${formerName}`, (format: string) =>
      command.setOptionValueWithSource('format', format, 'cli'),
    );
}
