import type { Command } from 'commander';
import { allCommands, type CommandModel, modelOf } from '../src/cli/command-model.ts';
import type { Io } from '../src/cli/io.ts';
import { createProgram } from '../src/cli/program.ts';

/** The reference of the command line, from the definitions of the commands. */
export async function commandPage(): Promise<string> {
  let printed = '';
  const output = {
    isTTY: false,
    write: (text: string | Uint8Array) => {
      printed += String(text);
    },
  };
  const io: Io = { stdin: nothing(), stdout: output, stderr: output, cwd: '.', env: {} };
  const program = await createProgram(io, () => {});
  const model = modelOf(program);

  /** What the help says below the list of options. */
  function notes(path: readonly string[]): string {
    const command = find(program, path);
    printed = '';
    command.outputHelp();
    return printed.slice(command.helpInformation().length).trim();
  }

  const commands = allCommands(model).slice(1);
  const contents = commands
    .filter(({ commands: inner }) => inner.length === 0)
    .map(
      ({ path, description }) =>
        `- [\`kymera ${path.join(' ')}\`](#kymera-${path.join('-')}): ${description}`,
    );
  return `<!-- Written by \`npm run docs\`: change the sources, not this page. -->

# The command line

${contents.join('\n')}

${section(notes([]))}
## Environment

- \`NO_COLOR\`: print without colours; \`FORCE_COLOR\`: print with colours where the output is no terminal.
- Completion in the shell: \`kymera completion bash\`, \`zsh\` or \`fish\` prints the script to load.
- As a plugin of kubectl the program is called \`kubectl-kymera\`.

${commands.map((command) => commandSection(command, notes(command.path))).join('\n')}`;
}

async function* nothing(): AsyncGenerator<string> {}

function find(command: Command, path: readonly string[]): Command {
  const [name, ...rest] = path;
  if (name === undefined) return command;
  const inner = command.commands.find((candidate) => candidate.name() === name);
  if (inner === undefined) throw new Error(`there is no command ${name}`);
  return find(inner, rest);
}

function commandSection(command: CommandModel, notes: string): string {
  const { path, usage, description, options, arguments: list, aliases } = command;
  const parts = [`## kymera ${path.join(' ')}\n`, `${description}\n`, `\`\`\`\n${usage}\n\`\`\`\n`];
  if (aliases.length > 0) parts.push(`Also called ${aliases.map((alias) => `\`${alias}\``).join(', ')}.\n`);
  const rows = [
    ...list.map(({ name, description: text, value }) => row(`\`${name}\``, text, value)),
    ...options.map(({ text, description: about, value, default: preset }) =>
      row(`\`${text}\``, about, value, preset),
    ),
  ];
  if (command.commands.length === 0) parts.push(`| | |\n|---|---|\n${rows.join('\n')}\n`);
  else
    parts.push(
      `${command.commands.map((inner) => `- \`kymera ${inner.path.join(' ')}\`: ${inner.description}`).join('\n')}\n`,
    );
  return `${parts.join('\n')}\n${section(notes)}`;
}

function row(
  name: string,
  description: string,
  value: { type: string; choices?: readonly string[] },
  preset?: unknown,
): string {
  const choices =
    value.choices === undefined ? '' : `: ${value.choices.map((choice) => `\`${choice}\``).join(', ')}`;
  const shown = Array.isArray(preset) ? preset.join(', ') : String(preset);
  const fallback = preset === undefined ? '' : `; default \`${shown}\``;
  return `| ${name.replaceAll('|', '\\|')} | ${`${description}${choices}${fallback}`.replaceAll('|', '\\|')} |`;
}

/** Examples become a block of code; the text before them stays text. */
function section(notes: string): string {
  const [text = '', examples] = notes.split(/^Examples:\n/m);
  const [lines = '', ...after] = (examples ?? '').split('\n\n');
  const prose = [text.trim(), ...after].filter((part) => part.trim() !== '').join('\n\n');
  const code = lines.trim() === '' ? '' : `\`\`\`sh\n${lines.replace(/^ {2}/gm, '').trimEnd()}\n\`\`\`\n`;
  return [prose === '' ? '' : `${prose}\n`, code].filter((part) => part !== '').join('\n');
}
