import { Command, CommanderError } from 'commander';
import { visible } from '../offline/output/visible.ts';
import { InputError } from '../problem.ts';
import { commandTable } from './commands.ts';
import { adviceOnCommand, adviceOnFlag } from './foreign-flags.ts';
import { wrapHelp } from './help-text.ts';
import type { ExitCode, Io, Output } from './io.ts';
import { paintFor } from './output/style.ts';
import { formatProblem } from './problem-text.ts';

const examples = `
Examples:
  $ kymera apply policies/ -r deployment.yaml
  $ kymera explain policy.yaml -r pod.yaml
  $ kymera test tests/

Exit codes: 0 fine; 1 a rule or a test failed; 2 the input or the command line is wrong.`;

/** Runs the program with these arguments (without `node` and the script). */
export async function run(argv: readonly string[], given: Io): Promise<ExitCode> {
  const io = argv.includes('--offline') ? { ...given, offline: true } : given;
  let exitCode: ExitCode = 0;
  const end = (code: ExitCode) => {
    exitCode = code;
  };
  try {
    const program = await createProgram(io, end, neededCommands(argv));
    await program.parseAsync(argv[0] === '-V' ? ['--version'] : argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof InputError)) throw error;
    const paint = paintFor(io.stderr, io, argv.includes('--no-color') ? false : undefined);
    await io.stderr.write(error.problems.map((problem) => `${formatProblem(problem, paint)}\n`).join(''));
    return 2;
  }
}

/** Help, completion and the suggestions for an unknown command need every definition. */
function neededCommands([first = '']: readonly string[]): Iterable<string> {
  if (['--version', '-v', '-V'].includes(first)) return [];
  return first !== 'completion' && commandTable.has(first) ? [first] : commandTable.keys();
}

/** The program with these commands. Nothing runs until it parses arguments. */
export async function createProgram(
  io: Io,
  end: (code: ExitCode) => void,
  commands: Iterable<string> = commandTable.keys(),
): Promise<Command> {
  const program = new Command('kymera')
    .description(
      'Kyverno-compatible mutation for Kubernetes: see what policies make of objects, and test them.',
    )
    .version(process.env['KYMERA_VERSION'] ?? 'development', '-v, --version', 'print the version')
    .addHelpText('after', examples)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(wrapFor(io.stdout, text)),
      writeErr: (text) => void io.stderr.write(visible(wrapFor(io.stderr, text))),
      outputError: (text, write) => write(withAdvice(text)),
      getOutHelpWidth: () => columnsOf(io.stdout) ?? 80,
      getErrHelpWidth: () => columnsOf(io.stderr) ?? 80,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  for (const name of commands) (await commandTable.get(name)?.())?.(program, { io, end });
  return program;

  /** Says what to use instead of an option or command of Kyverno or kustomize. */
  function withAdvice(text: string): string {
    const [, what, name = ''] = /^error: unknown (option|command) '(.*?)'/.exec(text) ?? [];
    if (what === undefined) return text;
    const path = commandPath(program);
    const advice =
      what === 'option' ? adviceOnFlag(path, name) : adviceOnCommand([path, name].join(' ').trim());
    // A similar name is rarely what such a user means.
    return advice === undefined ? text : `error: unknown ${what} '${name}'\n  hint: ${advice}\n`;
  }
}

/** The command that was parsed last: `create test`. */
function commandPath(program: Command): string {
  const names: string[] = [];
  let command: Command | undefined = program;
  for (;;) {
    const parsed: readonly string[] = command.args;
    command = command.commands.find(
      (inner) => parsed[0] === inner.name() || inner.aliases().includes(parsed[0] ?? ''),
    );
    if (command === undefined) return names.join(' ');
    names.push(command.name());
  }
}

function columnsOf(output: Output): number | undefined {
  return output.isTTY ? output.columns : undefined;
}

/** Commander wraps options only. */
function wrapFor(output: Output, text: string): string {
  const width = columnsOf(output);
  return width === undefined ? text : wrapHelp(text, width);
}
