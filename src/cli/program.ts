import { Command, CommanderError } from 'commander';
import { InputError } from '../problem.ts';
import { defineApply } from './apply/command.ts';
import { defineBuild } from './build/command.ts';
import { defineDiff } from './build/diff-command.ts';
import { defineTransform } from './build/transform-command.ts';
import { defineCompletion } from './completion/command.ts';
import { defineConvert } from './convert/command.ts';
import { defineCreate } from './create/command.ts';
import { defineExisting } from './existing/command.ts';
import { defineExplain } from './explain/command.ts';
import { defineGitops } from './gitops/command.ts';
import { programExamples } from './help-examples.ts';
import type { ExitCode, Io } from './io.ts';
import { defineJp } from './jp/command.ts';
import { defineMigrate } from './migrate/command.ts';
import { defineCleanup } from './operate/cleanup-command.ts';
import { defineDoctor } from './operate/doctor-command.ts';
import { defineRbac } from './operate/rbac-command.ts';
import { paintFor } from './output/style.ts';
import { formatProblem } from './problem-text.ts';
import { defineBackground } from './serve/background-command.ts';
import { defineServe } from './serve/command.ts';
import { defineTest } from './test/command.ts';
import { defineValidate } from './validate/command.ts';

/**
 * Runs the program with these arguments (without `node` and the script). Commands are imported when they
 * are run: starting up loads nothing but the option parser.
 */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const program = createProgram(io, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!(error instanceof InputError)) throw error;
    const paint = paintFor(io.stderr, io, argv.includes('--no-color') ? false : undefined);
    await io.stderr.write(error.problems.map((problem) => `${formatProblem(problem, paint)}\n`).join(''));
    return 2;
  }
}

/** The program and its commands; nothing runs until it parses arguments. */
export function createProgram(io: Io, end: (code: ExitCode) => void): Command {
  const program = new Command('kymera')
    .description(
      'Kyverno-compatible mutation for Kubernetes: see what policies make of objects, and test them.',
    )
    .version(process.env['KYMERA_VERSION'] ?? 'development')
    .addHelpText('after', programExamples)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });

  const host = { io, end };
  defineApply(program, host);
  defineExplain(program, host);
  defineTest(program, host);
  defineBuild(program, host);
  defineDiff(program, host);
  defineTransform(program, host);
  defineServe(program, host);
  defineBackground(program, host);
  defineValidate(program, host);
  defineConvert(program, host);
  defineJp(program, host);
  defineCreate(program, host);
  defineMigrate(program, host);
  defineGitops(program, host);
  defineExisting(program, host);
  defineRbac(program, host);
  defineDoctor(program, host);
  defineCleanup(program, host);
  defineCompletion(program, host);
  return program;
}
