import { inputError } from '../../problem.ts';
import type { Output } from '../io.ts';
import { openTemporaryFile, type TemporaryFile } from './temporary-file.ts';

/** Output that is held until all input is known to be valid, so that invalid input leaves no partial output. */
export interface HeldOutput {
  write(text: string): Promise<void>;
  /** Writes everything. */
  release(): Promise<void>;
  /** Drops everything. */
  discard(): Promise<void>;
}

/** More than this goes to a temporary file, so that memory does not grow with the number of objects. */
const heldBytes = 4 * 1024 * 1024;
const pieceCharacters = 64 * 1024;

export function holdOutput(output: Output, limit = heldBytes): HeldOutput {
  let text = '';
  // Bytes are outside the heap, so the garbage collector does not copy them.
  let held: Uint8Array[] = [];
  let size = 0;
  let file: TemporaryFile | undefined;
  async function pack(): Promise<void> {
    const piece = Buffer.from(text, 'utf8');
    text = '';
    if (file !== undefined) {
      await file.append(piece).catch((error: unknown) => {
        throw notHeld(error);
      });
      return;
    }
    held.push(piece);
    size += piece.length;
    if (size <= limit) return;
    try {
      file = await openTemporaryFile();
      for (const earlier of held) await file.append(earlier);
    } catch (error) {
      throw notHeld(error);
    }
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

function notHeld(error: unknown) {
  const reason = error instanceof Error ? error.message : String(error);
  return inputError('KYM_FILE_NOT_WRITTEN', `the temporary file of the results cannot be written: ${reason}`);
}
