import type { Argument, Command, Option } from 'commander';

/** A command as completion scripts and the reference page describe it. */
export interface CommandModel {
  /** Words after the program's name: `['jp', 'query']`. */
  readonly path: readonly string[];
  readonly aliases: readonly string[];
  readonly description: string;
  readonly usage: string;
  readonly commands: readonly CommandModel[];
  readonly options: readonly OptionModel[];
  readonly arguments: readonly ArgumentModel[];
}

export interface OptionModel {
  /** `-o` and `--output`. */
  readonly flags: readonly string[];
  /** As in the help: `-o, --output <format>`. */
  readonly text: string;
  readonly description: string;
  readonly value: ValueModel;
  readonly default?: unknown;
}

export interface ArgumentModel {
  readonly name: string;
  readonly description: string;
  readonly value: ValueModel;
  readonly variadic: boolean;
}

/** The value of an option or argument. */
export type ValueModel =
  | { readonly type: 'nothing' }
  | { readonly type: 'text' }
  | { readonly type: 'files' }
  | { readonly type: 'choice'; readonly choices: readonly string[] };

const fileNames = /^(file|files|folder|path|policy|resource|dir|directory)$/;

/** The model of a command and its subcommands. */
export function modelOf(command: Command, path: readonly string[] = []): CommandModel {
  const help = command.createHelp();
  return {
    path,
    aliases: command.aliases(),
    description: command.description(),
    usage: help.commandUsage(command),
    commands: help
      .visibleCommands(command)
      .filter((inner) => inner.name() !== 'help')
      .map((inner) => modelOf(inner, [...path, inner.name()])),
    options: help.visibleOptions(command).map(optionModel),
    arguments: command.registeredArguments.map(argumentModel),
  };
}

function optionModel(option: Option): OptionModel {
  const flags = [option.short, option.long].filter((flag) => flag !== undefined);
  const name = /[<[]([\w-]+)/.exec(option.flags)?.[1] ?? '';
  const takes = option.required || option.optional;
  return {
    flags,
    text: option.flags,
    description: option.description,
    value: takes ? valueModel(name, option.argChoices) : { type: 'nothing' },
    ...(option.defaultValue === undefined || option.negate ? {} : { default: option.defaultValue }),
  };
}

function argumentModel(argument: Argument): ArgumentModel {
  return {
    name: argument.name(),
    description: argument.description,
    value: valueModel(argument.name(), argument.argChoices),
    variadic: argument.variadic,
  };
}

function valueModel(name: string, choices: readonly string[] | undefined): ValueModel {
  if (choices !== undefined) return { type: 'choice', choices };
  return { type: fileNames.test(name) ? 'files' : 'text' };
}

/** The command and its subcommands, outermost first. */
export function allCommands(model: CommandModel): readonly CommandModel[] {
  return [model, ...model.commands.flatMap(allCommands)];
}
