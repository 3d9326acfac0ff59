import type { FolderPlace } from '../kustomization/folder.ts';
import type { Repositories } from './repositories.ts';
import type { RepositoryUrl } from './repository-url.ts';

/** Fetches the repository of a URL and opens the folder that it names. */
export async function repositoryPlace(
  url: RepositoryUrl,
  parent: FolderPlace | undefined,
  repositories: Repositories,
): Promise<FolderPlace> {
  const { clone, root } = await repositories.folderOf(url);
  return {
    root,
    name: url.text,
    origin: url.folder,
    parent,
    repository: { clone, address: url.repository, ref: url.ref, text: url.text },
  };
}
