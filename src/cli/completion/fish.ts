import { allCommands, type CommandModel, type OptionModel } from '../command-model.ts';

/** Completion for fish: one line for each command, flag and argument. */
export function fishScript(program: CommandModel): string {
  const lines = allCommands(program).flatMap(commandLines);
  return `# fish completion for kymera
function __kymera_words
    set -l words (commandline -opc | string match -v -- '-*')
    test (count $words) -gt 1; and string join ' ' -- $words[2..-1]
end
# Whether the command line runs this command.
function __kymera_is
    set -l words (__kymera_words)
    string match -q -- "$argv[1] *" "$words "
end
# Whether the next word is a command.
function __kymera_after
    set -l words (__kymera_words)
    test "$words" = "$argv[1]"
end
complete -c kymera -f
${lines.join('\n')}
`;
}

function commandLines(command: CommandModel): readonly string[] {
  const path = command.path.join(' ');
  const inner = command.commands.map(
    ({ path: words, description }) =>
      `complete -c kymera -n ${quote(`__kymera_after ${quote(path)}`)} -a ${words.at(-1)} -d ${quote(description)}`,
  );
  const condition = path === '' ? '' : ` -n ${quote(`__kymera_is ${quote(path)}`)}`;
  const options = command.options.map((option) => `complete -c kymera${condition}${optionText(option)}`);
  const list = command.arguments.flatMap(({ value }) => {
    if (value.type === 'files') return [`complete -c kymera${condition} -F`];
    if (value.type !== 'choice') return [];
    return [`complete -c kymera${condition} -a ${quote(value.choices.join(' '))}`];
  });
  return [...inner, ...options, ...list];
}

function optionText({ flags, description, value }: OptionModel): string {
  const names = flags.map((flag) =>
    flag.startsWith('--') ? ` -l ${flag.slice(2)}` : ` -s ${flag.slice(1)}`,
  );
  const takes = {
    nothing: '',
    text: ' -x',
    files: ' -r -F',
    choice: value.type === 'choice' ? ` -x -a ${quote(value.choices.join(' '))}` : '',
  }[value.type];
  return `${names.join('')}${takes} -d ${quote(description)}`;
}

/** Escapes backslashes and quotes with a backslash, also in nested quotes. */
function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
