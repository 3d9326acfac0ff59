import path from 'path-browserify';

/** Replaces `node:path` in the page. */
export const { basename, dirname, isAbsolute, join, normalize, posix, relative, resolve, sep } = path;
