import type { FileTree } from '../kustomization/files.ts';
import type { FolderPlace } from '../kustomization/folder.ts';
import { KustomizeError } from '../kustomize-error.ts';
import type { Repositories } from './repositories.ts';
import type { RepositoryUrl } from './repository-url.ts';

/** Fetches the repository of a URL and opens the folder that it names. */
export async function repositoryPlace(
  url: RepositoryUrl,
  parent: FolderPlace | undefined,
  repositories: Repositories | undefined,
  files: FileTree,
): Promise<FolderPlace> {
  if (repositories === undefined) throw cannotFetch(url.text);
  const { clone, root } = await repositories.folderOf(url);
  return {
    files,
    root,
    name: url.text,
    origin: url.folder,
    parent,
    repository: { clone, address: url.repository, ref: url.ref, text: url.text },
  };
}

export function cannotFetch(address: string): KustomizeError {
  return new KustomizeError(
    'KYM_KUSTOMIZE_REMOTE',
    `"${address}" is remote, and nothing can be fetched here`,
    {
      hint: 'Add a copy of its files, or build it with kymera build.',
    },
  );
}
