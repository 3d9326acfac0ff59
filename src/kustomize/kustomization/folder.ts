import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { KustomizeError, type KustomizeLocation } from '../kustomize-error.ts';
import type { EntryKind, FileTree } from './files.ts';

/** A folder that is part of the build. */
export interface FolderPlace {
  readonly files: FileTree;
  /** Absolute, without symbolic links. */
  readonly root: string;
  /** The path for messages. */
  readonly name: string;
  /** Relative to the folder being built. */
  readonly origin: string;
  /** The folder whose kustomization names this one. */
  readonly parent: FolderPlace | undefined;
  /** Set for a folder of a fetched repository. */
  readonly repository?: FetchedRepository | undefined;
}

export interface FetchedRepository {
  /** The root of its working tree: absolute, without symbolic links. */
  readonly clone: string;
  /** As git fetches it. */
  readonly address: string;
  readonly ref: string;
  /** As written in the kustomization that names it. */
  readonly text: string;
}

/** Reads files for one kustomization. */
export interface KustomizationFolder {
  /** Absolute, without symbolic links. */
  readonly root: string;
  /** Path of the kustomization file, for messages. */
  readonly file: string;
  /** The file relative to the folder being built, for `configuredIn`. */
  readonly configuredIn: string;
  /** Whether it belongs to a fetched repository, which must not change. */
  readonly isFetched: boolean;
  /** Reads a file that a field names. Throws for files outside of the root and for URLs. */
  readText(path: string, field: string): string;
  readBytes(path: string, field: string): Uint8Array;
}

/** The type of an entry of `resources`. */
export function entryKind(place: FolderPlace, path: string): EntryKind {
  return place.files.kindOf(resolve(place.root, path));
}

const remote = /^(?:[a-z][a-z0-9+.-]*:\/\/|git::|[\w.-]+@[\w.-]+:)|[?&](?:ref|version)=/i;

export function absentEntry(place: FolderPlace, path: string, field: string, file: string): KustomizeError {
  if (remote.test(path)) {
    return new KustomizeError(
      'KYM_KUSTOMIZE_REMOTE',
      `"${path}" is not a local file or folder, and not a folder of a git repository`,
      { file, field, hint: 'Download the file, or name a folder: https://host/org/repo//folder?ref=v1.' },
    );
  }
  const name = isAbsolute(path) ? path : join(place.name, path);
  return new KustomizeError('KYM_KUSTOMIZE_NOT_FOUND', `${name} does not exist`, { file, field });
}

/** Opens the folder of an entry. Throws if it contains a folder that is being built. */
export function enterFolder(place: FolderPlace, path: string, field: string, file: string): FolderPlace {
  const root = place.files.realPath(resolve(place.root, path));
  for (let visited: FolderPlace | undefined = place; visited !== undefined; visited = visited.parent) {
    if (!isInside(visited.root, root)) continue;
    throw new KustomizeError(
      'KYM_KUSTOMIZE_CYCLE',
      `"${path}" refers to ${visited.name}, which is already being built`,
      { file, field },
    );
  }
  const { files, repository } = place;
  if (repository !== undefined && !isInside(root, repository.clone)) {
    throw new KustomizeError(
      'KYM_KUSTOMIZE_OUTSIDE',
      `"${path}" is not in the repository ${repository.address}`,
      {
        file,
        field,
      },
    );
  }
  return {
    files,
    root,
    name: join(place.name, path),
    origin: join(place.origin, path),
    parent: place,
    repository,
  };
}

/** Throws if a repository that is being built is named again below itself. */
export function checkRepositoryCycle(place: FolderPlace, path: string, field: string, file: string): void {
  for (let visited: FolderPlace | undefined = place; visited !== undefined; visited = visited.parent) {
    if (visited.repository?.text.startsWith(path) !== true) continue;
    throw new KustomizeError('KYM_KUSTOMIZE_CYCLE', `"${path}" is already being built`, { file, field });
  }
}

export function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

export function openFolder(place: FolderPlace, fileName: string, unrestricted: boolean): KustomizationFolder {
  const file = join(place.name, fileName);
  const read = (path: string, field: string): Uint8Array => {
    const full = realPath(place, path, field, file);
    // The files of a repository never reach outside of it.
    const isRestricted = !unrestricted || place.repository !== undefined;
    if (isRestricted && !isInside(full, place.root)) {
      throw new KustomizeError(
        'KYM_KUSTOMIZE_OUTSIDE',
        `${relative(place.root, full)} is not in or below the folder ${place.name}`,
        { file, field },
      );
    }
    return readFile(place.files, full, path, { file, field });
  };
  return {
    root: place.root,
    file,
    configuredIn: join(place.origin, fileName),
    isFetched: place.repository !== undefined,
    readBytes: read,
    readText: (path, field) => decodeText(read(path, field), path, { file, field }),
  };
}

export function readFile(files: FileTree, full: string, name: string, place: KustomizeLocation): Uint8Array {
  try {
    return files.read(full);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new KustomizeError('KYM_KUSTOMIZE_NOT_FOUND', `${name} is not readable: ${reason}`, place);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes UTF-8. Throws for invalid bytes, which would otherwise be replaced silently. */
export function decodeText(bytes: Uint8Array, name: string, place: KustomizeLocation): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new KustomizeError('KYM_INPUT_UNREADABLE', `${name} is not UTF-8 text`, place);
  }
}

function realPath(place: FolderPlace, path: string, field: string, file: string): string {
  try {
    return place.files.realPath(resolve(place.root, path));
  } catch {
    throw absentEntry(place, path, field, file);
  }
}
