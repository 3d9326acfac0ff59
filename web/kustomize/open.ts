import { emptyWorkspace, type SourceText } from '../engine/workspace.ts';
import { openWorkspace, workspace } from '../state/playground.ts';

/** The first kustomization of the gallery, with the policies of the page. */
export async function openFirstExample(): Promise<void> {
  const { examples } = await import('virtual:gallery');
  const first = examples.find((example) => example.workspace.folder !== undefined)?.workspace;
  if (first !== undefined) openKustomization(first.files ?? [], first.folder);
}

/** Replaces the files of the page. Policies and objects stay. */
export function openKustomization(files: readonly SourceText[], folder = ''): void {
  openWorkspace({ ...emptyWorkspace, ...workspace.value, files, folder });
}
