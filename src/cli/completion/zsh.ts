import {
  type ArgumentModel,
  allCommands,
  type CommandModel,
  type OptionModel,
  type ValueModel,
} from '../command-model.ts';

/** Completion for zsh: one function for each command. */
export function zshScript(program: CommandModel): string {
  const functions = allCommands(program).toReversed().map(commandFunction);
  return `#compdef kymera kubectl-kymera
# zsh completion for kymera
${functions.join('\n')}
if [ "$funcstack[1]" = "_kymera" ]; then
  _kymera "$@"
else
  compdef _kymera kymera kubectl-kymera
fi
`;
}

function functionName(path: readonly string[]): string {
  return ['_kymera', ...path].join('_');
}

function commandFunction(command: CommandModel): string {
  const options = command.options.map((option) => `    ${optionText(option)}`);
  if (command.commands.length === 0) {
    const list = command.arguments.map((argument, index) => `    ${argumentText(argument, index + 1)}`);
    return `${functionName(command.path)}() {
  _arguments -s : \\
${[...options, ...list].join(' \\\n')}
}`;
  }
  const names = command.commands.map(
    ({ path, description }) => `    ${quote(`${path.at(-1)}:${description.replaceAll(':', '\\:')}`)}`,
  );
  const cases = command.commands.map(
    ({ path, aliases }) => `      ${[path.at(-1), ...aliases].join('|')}) ${functionName(path)} ;;`,
  );
  return `${functionName(command.path)}() {
  local state line
  local -a commands=(
${names.join('\n')}
  )
  _arguments -C \\
${options.join(' \\\n')} \\
    '1: :->command' \\
    '*:: :->rest'
  case $state in
    command) _describe command commands ;;
    rest) case $line[1] in
${cases.join('\n')}
    esac ;;
  esac
}`;
}

function optionText({ flags, description, value }: OptionModel): string {
  const detail = `[${description.replace(/[[\]]/g, '\\$&')}]${valueText(value)}`;
  const [first = '', second] = flags;
  if (second === undefined) return quote(`${first}${detail}`);
  return `'(${first} ${second})'{${first},${second}}${quote(detail)}`;
}

function argumentText({ name, value, variadic }: ArgumentModel, position: number): string {
  return quote(`${variadic ? '*' : position}:${name}${action(value)}`);
}

function valueText(value: ValueModel): string {
  return value.type === 'nothing' ? '' : `:value${action(value)}`;
}

function action(value: ValueModel): string {
  if (value.type === 'files') return ':_files';
  return value.type === 'choice' ? `:(${value.choices.join(' ')})` : ': ';
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
