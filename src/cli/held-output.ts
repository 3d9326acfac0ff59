import type { Output } from './io.ts';

/** Output that waits until the input proved good, so that bad input leaves nothing half written. */
export interface HeldOutput {
  write(text: string): Promise<void>;
  /** Lets everything out. */
  release(): Promise<void>;
  /** Drops what is still held. */
  discard(): void;
}

/** More than this is not held in memory: a very long stream flows. */
const heldCharacters = 64 * 1024 * 1024;
const pieceCharacters = 64 * 1024;

export function holdOutput(output: Output): HeldOutput {
  let held: string[] = [];
  let size = 0;
  let limit = heldCharacters;
  async function flush(): Promise<void> {
    const text = held;
    held = [];
    size = 0;
    limit = pieceCharacters;
    await output.write(text.join(''));
  }
  return {
    write: async (text) => {
      held.push(text);
      size += text.length;
      if (size > limit) await flush();
    },
    release: async () => {
      if (size > 0) await flush();
    },
    discard: () => {
      held = [];
      size = 0;
    },
  };
}
