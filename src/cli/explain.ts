import type { ExitCode, Io } from './io.ts';
import type { RunOptions } from './run-setup.ts';
export async function explain(_p: readonly string[], _o: RunOptions, _io: Io): Promise<ExitCode> { return 0; }
