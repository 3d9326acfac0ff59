import type { ExitCode, Io } from './io.ts';

/** What a command definition needs to run its command. */
export interface CommandHost {
  readonly io: Io;
  /** Says how the command ended. */
  end(code: ExitCode): void;
}
