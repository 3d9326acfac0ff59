import { dirname, normalize } from 'node:path';
import type { FileTree } from './files.ts';

/** Texts by absolute path. Their folders exist. */
export function memoryFiles(texts: ReadonlyMap<string, string>): FileTree {
  const encoder = new TextEncoder();
  const folders = new Set(['/']);
  for (const path of texts.keys()) {
    for (let folder = dirname(path); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
  }
  const kindOf: FileTree['kindOf'] = (path) => {
    const name = withoutEnd(path);
    if (folders.has(name)) return 'folder';
    return texts.has(name) ? 'file' : 'absent';
  };
  return {
    kindOf,
    realPath(path) {
      if (kindOf(path) === 'absent') throw new Error(`${path} does not exist`);
      return withoutEnd(path);
    },
    read(path) {
      const text = texts.get(withoutEnd(path));
      if (text === undefined) throw new Error('it is not a regular file');
      return encoder.encode(text);
    },
  };
}

function withoutEnd(path: string): string {
  const name = normalize(path);
  return name.length > 1 && name.endsWith('/') ? name.slice(0, -1) : name;
}
