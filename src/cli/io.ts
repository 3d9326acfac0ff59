/** Everything a command touches of the outside, so that tests run the whole program in-process. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends a command that watches; without one, ending the process does. */
  readonly signal?: AbortSignal | undefined;
  /** The program of threads that run tests; without one, tests run one after another. */
  readonly testWorker?: URL | undefined;
}

export interface Output {
  readonly isTTY: boolean;
  readonly columns?: number | undefined;
  /** Resolves when more can be written. */
  write(text: string | Uint8Array): void | Promise<void>;
}

/** 0: fine. 1: a rule or a test failed. 2: the input or the command line is wrong. */
export type ExitCode = 0 | 1 | 2;

export function processIo(): Io {
  return {
    stdin: process.stdin,
    stdout: streamOutput(process.stdout),
    stderr: streamOutput(process.stderr),
    cwd: process.cwd(),
    env: process.env,
  };
}

function streamOutput(stream: NodeJS.WriteStream): Output {
  return {
    isTTY: stream.isTTY === true,
    columns: stream.columns,
    write: (text) => {
      if (stream.write(text)) return;
      return new Promise((resolve) => stream.once('drain', resolve));
    },
  };
}

/** What a command definition needs to run its command. */
export interface CommandHost {
  readonly io: Io;
  /** Says how the command ended. */
  end(code: ExitCode): void;
}
