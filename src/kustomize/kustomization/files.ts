export type EntryKind = 'file' | 'folder' | 'absent';

/** The files that a build reads: those on disk, or texts in memory. Paths are absolute. */
export interface FileTree {
  /** Follows symbolic links. */
  kindOf(path: string): EntryKind;
  /** The path without symbolic links. Throws if it does not exist. */
  realPath(path: string): string;
  /** Throws an Error with the reason, also for what is not a regular file. */
  read(path: string): Uint8Array;
}
