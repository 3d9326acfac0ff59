import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ExitCode, Io } from '../../src/cli/io.ts';
import { run } from '../../src/cli/program.ts';

export interface Finished {
  readonly exitCode: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Setup {
  /** Files of the working folder, by path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** The working folder; a fresh one when absent. */
  readonly folder?: string;
}

/** Runs the program in this process, in a fresh folder. */
export async function kymera(argv: readonly string[], setup: Setup = {}): Promise<Finished> {
  const cwd = setup.folder ?? mkdtempSync(join(tmpdir(), 'kymera-cli-'));
  for (const [name, text] of Object.entries(setup.files ?? {})) {
    const path = join(cwd, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const out: string[] = [];
  const err: string[] = [];
  const output = (parts: string[]) => ({
    isTTY: setup.isTTY ?? false,
    ...(setup.columns === undefined ? {} : { columns: setup.columns }),
    write: (text: string | Uint8Array) => {
      parts.push(typeof text === 'string' ? text : new TextDecoder().decode(text));
    },
  });
  const io: Io = {
    stdin: textOf(setup.stdin ?? ''),
    stdout: output(out),
    stderr: output(err),
    cwd,
    env: setup.env ?? {},
  };
  const exitCode = await run(argv, io);
  return { exitCode, stdout: out.join(''), stderr: err.join('') };
}

async function* textOf(text: string) {
  yield text;
}
