import type { ExitCode, Io } from './io.ts';
export async function test(_p: readonly string[], _o: object, _io: Io): Promise<ExitCode> { return 0; }
