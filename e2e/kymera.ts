import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { patienceSeconds } from './wait-for.ts';

/** The built program. */
export const program = fileURLToPath(new URL('../bin/kymera', import.meta.url));

export interface KymeraAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a kymera command and waits until it ends. */
export function kymera(...args: string[]): Promise<KymeraAnswer> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, ...args],
      { timeout: 2 * patienceSeconds * 1_000 },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
      },
    );
  });
}
