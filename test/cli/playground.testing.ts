import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from '../../src/cli/program.ts';

export interface Running {
  readonly address: URL;
  readonly token: string;
  readonly folder: string;
  stop(): Promise<number>;
}

/** Starts the command in a folder with these files, and waits for its address. */
export async function startSession(
  files: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Running> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'kymera-playground-')));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const abort = new AbortController();
  let finished: Promise<number> = Promise.resolve(0);
  const address = await new Promise<string>((resolve) => {
    const output = { isTTY: false, write: (text: string | Uint8Array) => resolve(String(text)) };
    finished = run(['playground', ...args], {
      stdin: (async function* () {})(),
      stdout: output,
      stderr: output,
      cwd: folder,
      env: {},
      signal: abort.signal,
    });
  });
  const url = new URL(/http:\S+/.exec(address)?.[0] ?? address);
  return {
    address: url,
    token: url.hash.replace('#session=', ''),
    folder,
    stop: () => {
      abort.abort();
      return finished;
    },
  };
}
