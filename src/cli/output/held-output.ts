import type { Output } from '../io.ts';
import { openTemporaryFile, type TemporaryFile } from './temporary-file.ts';

/** Output that waits until the input proved good, so that bad input leaves nothing half written. */
export interface HeldOutput {
  write(text: string): Promise<void>;
  /** Lets everything out. */
  release(): Promise<void>;
  /** Drops what is held. */
  discard(): Promise<void>;
}

/** More than this waits in a temporary file: memory does not follow the number of objects. */
const heldBytes = 4 * 1024 * 1024;
const pieceCharacters = 64 * 1024;

export function holdOutput(output: Output, limit = heldBytes): HeldOutput {
  let text = '';
  // Bytes lie outside the heap, where the garbage collector need not carry them about.
  let held: Uint8Array[] = [];
  let size = 0;
  let file: TemporaryFile | undefined;
  async function pack(): Promise<void> {
    const piece = Buffer.from(text, 'utf8');
    text = '';
    if (file !== undefined) return file.append(piece);
    held.push(piece);
    size += piece.length;
    if (size <= limit) return;
    file = await openTemporaryFile();
    for (const earlier of held) await file.append(earlier);
    held = [];
  }
  return {
    write: async (more) => {
      text += more;
      if (text.length > pieceCharacters) await pack();
    },
    release: async () => {
      if (text !== '') await pack();
      for (const piece of held) await output.write(piece);
      held = [];
      if (file === undefined) return;
      for await (const piece of file.read()) await output.write(piece);
      await file.close();
    },
    discard: async () => {
      text = '';
      held = [];
      await file?.close();
    },
  };
}
