import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Bytes that do not fit in memory. */
export interface TemporaryFile {
  append(bytes: Uint8Array): Promise<void>;
  /** From the beginning; any number of times. */
  read(): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

const pieceBytes = 256 * 1024;

/** The file has no name once it is open, so it disappears with the process, however that ends. */
export async function openTemporaryFile(): Promise<TemporaryFile> {
  const folder = await mkdtemp(join(tmpdir(), 'kymera-'));
  const handle = await open(join(folder, 'spool'), 'wx+', 0o600);
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  let size = 0;
  return {
    append: async (bytes) => {
      // A write to a disk that is almost full can be cut short.
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, size);
        at += bytesWritten;
        size += bytesWritten;
      }
    },
    read: async function* () {
      for (let position = 0; position < size; ) {
        const buffer = new Uint8Array(Math.min(pieceBytes, size - position));
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
        if (bytesRead === 0) return;
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    },
    close: async () => {
      await handle.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
