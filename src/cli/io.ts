import { fstatSync, writeSync } from 'node:fs';

/** The outside world of a command, so that tests can run the whole program in-process. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Read no addresses. */
  readonly offline?: boolean | undefined;
  /** Ends a command that watches. Without a signal such a command runs until the process ends. */
  readonly signal?: AbortSignal | undefined;
  /** The program of the threads that run tests. Without it, tests run one after another. */
  readonly testWorker?: URL | undefined;
}

export interface Output {
  readonly isTTY: boolean;
  readonly columns?: number | undefined;
  /** Resolves when more can be written. Rejects with OutputError; a caller that does not wait may ignore the promise. */
  write(text: string | Uint8Array): void | Promise<void>;
}

/** 0: success. 1: a rule or a test failed. 2: the input or the command line is wrong, or the output cannot be written. */
export type ExitCode = 0 | 1 | 2;

/** Passed to the definition of a command. */
export interface CommandHost {
  readonly io: Io;
  /** Sets the exit code. */
  end(code: ExitCode): void;
}

/** Standard output or standard error cannot be written. */
export class OutputError extends Error {
  constructor(output: string, cause: NodeJS.ErrnoException) {
    super(`${output} cannot be written: ${cause.message}`, { cause });
    this.name = 'OutputError';
  }

  /** The reader closed the pipe (`| head`), which is not an error of the command. */
  get isClosedPipe(): boolean {
    return (this.cause as NodeJS.ErrnoException).code === 'EPIPE';
  }
}

interface ProcessOutput extends Output {
  /** Resolves when all bytes are written; with the first error, if any. */
  finish(): Promise<OutputError | undefined>;
}

export interface ProcessIo extends Io {
  /** Waits for all output. Returns 2 when bytes were lost, otherwise `code`. */
  finish(code: ExitCode): Promise<ExitCode>;
}

export function processIo(): ProcessIo {
  const stdout = processOutput(process.stdout, 'standard output');
  const stderr = processOutput(process.stderr, 'standard error');
  return {
    stdin: process.stdin,
    stdout,
    stderr,
    cwd: process.cwd(),
    env: process.env,
    async finish(code) {
      const lost = await stdout.finish();
      const isLost = lost !== undefined && !lost.isClosedPipe;
      if (isLost) void stderr.write(`error: ${lost.message} [KYM_FILE_NOT_WRITTEN]\n`);
      const lostErrors = await stderr.finish();
      return isLost || (lostErrors !== undefined && !lostErrors.isClosedPipe) ? 2 : code;
    },
  };
}

function processOutput(stream: NodeJS.WriteStream & { readonly fd: number }, name: string): ProcessOutput {
  const { fd } = stream;
  const stats = fstatSync(fd);
  const isFile = stats.isFile() || stats.isBlockDevice() || (stats.isCharacterDevice() && !stream.isTTY);
  return isFile ? fileOutput(fd, name) : streamOutput(stream, name);
}

/** Node's own stream for files ignores that a write to a full disk was cut short. */
function fileOutput(fd: number, name: string): ProcessOutput {
  let failure: OutputError | undefined;
  return {
    isTTY: false,
    write(text) {
      try {
        const bytes = typeof text === 'string' ? Buffer.from(text) : text;
        for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
        return;
      } catch (error) {
        const failed = new OutputError(name, error as NodeJS.ErrnoException);
        failure ??= failed;
        return handled(Promise.reject(failed));
      }
    },
    finish: async () => failure,
  };
}

/** A terminal, a pipe or a socket. */
function streamOutput(stream: NodeJS.WriteStream, name: string): ProcessOutput {
  let failure: OutputError | undefined;
  let last: Promise<void> = Promise.resolve();
  const fail = (error: Error) => {
    failure ??= new OutputError(name, error);
    return failure;
  };
  // Without a listener an error would end the process. Every write reports it as well.
  stream.on('error', fail);
  return {
    isTTY: stream.isTTY === true,
    columns: stream.columns,
    write(text) {
      let hasRoom = false;
      const written = new Promise<void>((resolve, reject) => {
        hasRoom = stream.write(text, (error) => (error ? reject(fail(error)) : resolve()));
      });
      last = handled(written);
      return hasRoom && failure === undefined ? undefined : written;
    },
    async finish() {
      await last.catch(() => undefined);
      return failure;
    },
  };
}

/** A rejection that nobody waits for is not an unhandled one. */
function handled(promise: Promise<void>): Promise<void> {
  promise.catch(() => undefined);
  return promise;
}
