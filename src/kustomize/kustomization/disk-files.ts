import { readFileSync, realpathSync, statSync } from 'node:fs';
import type { FileTree } from './files.ts';

/** The files on disk. */
export const diskFiles: FileTree = {
  kindOf(path) {
    try {
      return statSync(path).isDirectory() ? 'folder' : 'file';
    } catch {
      // Also for a name that is too long or contains NUL.
      return 'absent';
    }
  },
  realPath: (path) => realpathSync(path),
  read(path) {
    // A named pipe or a device could block forever.
    if (!statSync(path).isFile()) throw new Error('it is not a regular file');
    return readFileSync(path);
  },
};
