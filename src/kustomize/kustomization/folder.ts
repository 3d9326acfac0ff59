import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { KustomizeError } from '../kustomize-error.ts';

/** A folder that is part of the build. */
export interface FolderPlace {
  /** Absolute, without symbolic links. */
  readonly root: string;
  /** The path for messages. */
  readonly name: string;
  /** Relative to the folder being built. */
  readonly origin: string;
  /** The folder whose kustomization names this one. */
  readonly parent: FolderPlace | undefined;
}

/** Reads files for one kustomization. */
export interface KustomizationFolder {
  /** Absolute, without symbolic links. */
  readonly root: string;
  /** Path of the kustomization file, for messages. */
  readonly file: string;
  /** The file relative to the folder being built, for `configuredIn`. */
  readonly configuredIn: string;
  /** Reads a file that a field names. Throws for files outside of the root and for URLs. */
  readText(path: string, field: string): string;
  readBytes(path: string, field: string): Uint8Array;
}

export type EntryKind = 'file' | 'folder' | 'absent';

/** The type of an entry of `resources` on disk. */
export function entryKind(place: FolderPlace, path: string): EntryKind {
  const stats = statSync(resolve(place.root, path), { throwIfNoEntry: false });
  if (stats === undefined) return 'absent';
  return stats.isDirectory() ? 'folder' : 'file';
}

const remote =
  /^(?:[a-z][a-z0-9+.-]*:\/\/|git::|[\w.-]+@[\w.-]+:|(?:www\.)?(?:github|gitlab|bitbucket)\.(?:com|org)[/:])|\.git(?:$|[/?#])|[?&](?:ref|version)=/i;

export function absentEntry(place: FolderPlace, path: string, field: string, file: string): KustomizeError {
  if (remote.test(path)) {
    return new KustomizeError(
      'KYM_KUSTOMIZE_REMOTE',
      `"${path}" is not a local file or folder; remote resources are not supported`,
      { file, field },
    );
  }
  const name = isAbsolute(path) ? path : join(place.name, path);
  return new KustomizeError('KYM_KUSTOMIZE_NOT_FOUND', `${name} does not exist`, { file, field });
}

/** Opens the folder of an entry. Throws if it contains a folder that is being built. */
export function enterFolder(place: FolderPlace, path: string, field: string, file: string): FolderPlace {
  const root = realpathSync(resolve(place.root, path));
  for (let visited: FolderPlace | undefined = place; visited !== undefined; visited = visited.parent) {
    if (!isInside(visited.root, root)) continue;
    throw new KustomizeError(
      'KYM_KUSTOMIZE_CYCLE',
      `"${path}" refers to ${visited.name}, which is already being built`,
      { file, field },
    );
  }
  return { root, name: join(place.name, path), origin: join(place.origin, path), parent: place };
}

function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

export function openFolder(place: FolderPlace, fileName: string, unrestricted: boolean): KustomizationFolder {
  const file = join(place.name, fileName);
  const read = (path: string, field: string): Uint8Array => {
    const full = realPath(place, path, field, file);
    if (!unrestricted && !isInside(full, place.root)) {
      throw new KustomizeError(
        'KYM_KUSTOMIZE_OUTSIDE',
        `${relative(place.root, full)} is not in or below the folder ${place.name}`,
        { file, field },
      );
    }
    try {
      return readFileSync(full);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new KustomizeError('KYM_KUSTOMIZE_NOT_FOUND', `${path} is not readable: ${reason}`, {
        file,
        field,
      });
    }
  };
  return {
    root: place.root,
    file,
    configuredIn: join(place.origin, fileName),
    readBytes: read,
    readText: (path, field) => Buffer.from(read(path, field)).toString('utf8'),
  };
}

function realPath(place: FolderPlace, path: string, field: string, file: string): string {
  try {
    return realpathSync(resolve(place.root, path));
  } catch {
    throw absentEntry(place, path, field, file);
  }
}
