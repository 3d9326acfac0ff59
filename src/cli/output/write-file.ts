import { chmod, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { inputError } from '../../problem.ts';

/** Replaces a file as a whole: whoever reads it meanwhile sees the old text or the new, never half of it. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx' });
    const before = await stat(target).catch(() => undefined);
    if (before !== undefined) await chmod(temporary, before.mode);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    const reason = error instanceof Error ? error.message : String(error);
    throw inputError('KYM_FILE_NOT_WRITTEN', `the file cannot be written: ${reason}`, { file: path });
  }
}
