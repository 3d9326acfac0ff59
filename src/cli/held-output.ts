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
const heldBytes = 32 * 1024 * 1024;
const pieceCharacters = 64 * 1024;

export function holdOutput(output: Output): HeldOutput {
  let text = '';
  // Bytes lie outside the heap, where the garbage collector need not carry them about.
  let held: Uint8Array[] = [];
  let size = 0;
  let isFlowing = false;
  async function pack(): Promise<void> {
    const piece = Buffer.from(text, 'utf8');
    text = '';
    if (isFlowing) return output.write(piece);
    held.push(piece);
    size += piece.length;
    if (size > heldBytes) await flow();
  }
  async function flow(): Promise<void> {
    isFlowing = true;
    for (const piece of held) await output.write(piece);
    held = [];
  }
  return {
    write: async (more) => {
      text += more;
      if (text.length > pieceCharacters) await pack();
    },
    release: async () => {
      if (text !== '') await pack();
      await flow();
    },
    discard: () => {
      text = '';
      held = [];
    },
  };
}
