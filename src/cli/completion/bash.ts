import { allCommands, type CommandModel, type ValueModel } from '../command-model.ts';

/** Completion for bash, also under the name of the kubectl plugin. */
export function bashScript(program: CommandModel): string {
  const commands = allCommands(program);
  return `# bash completion for kymera
_kymera() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= flags= words= files= i
  # bash splits --flag=value in three.
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command \${COMP_WORDS[i]}" in
${commands.slice(1).map(commandCase).join('\n')}
    esac
  done
  case "$command $prev" in
${commands.flatMap(valueCases).join('\n')}
  esac
  if [[ -z $words$files ]]; then
    case "$command" in
${commands.map(wordCase).join('\n')}
    esac
    if [[ $cur == -* ]]; then words=$flags files=; fi
  fi
  [[ $words == - ]] && words=
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    local IFS=$'\\n'
    COMPREPLY+=($(compgen -f -- "$cur"))
  fi
}
complete -F _kymera kymera
complete -F _kymera kubectl-kymera
`;
}

function commandCase({ path, aliases }: CommandModel): string {
  const parent = path.slice(0, -1).join(' ');
  const names = [path.at(-1) ?? '', ...aliases].map((name) => `"${parent} ${name}"`);
  return `      ${names.join(' | ')}) command="${path.join(' ')}" ;;`;
}

function valueCases({ path, options }: CommandModel): readonly string[] {
  return options.flatMap(({ flags, value }) => {
    if (value.type === 'nothing') return [];
    const patterns = flags.map((flag) => `"${path.join(' ')} ${flag}"`).join(' | ');
    return [`    ${patterns}) ${assignment(value)} ;;`];
  });
}

/** A single dash marks a free-form value: no completions, not even flags. */
function assignment(value: ValueModel): string {
  if (value.type === 'files') return 'files=1';
  return value.type === 'choice' ? `words="${value.choices.join(' ')}"` : 'words=-';
}

function wordCase({ path, commands, options, arguments: list }: CommandModel): string {
  const flags = options.flatMap((option) => option.flags).join(' ');
  const names = commands.flatMap((command) => [command.path.at(-1) ?? '', ...command.aliases]);
  const choices = list.flatMap(({ value }) => (value.type === 'choice' ? value.choices : []));
  const words = [...names, ...choices].join(' ');
  const files = list.some(({ value }) => value.type === 'files') ? ' files=1' : '';
  return `      "${path.join(' ')}") flags="${flags}" words="${words}"${files} ;;`;
}
