import { signal } from '@preact/signals';
import type { SourceRole } from '../engine/workspace.ts';
import { addSource, engine, openWorkspace } from '../state/playground.ts';
import { droppedFiles, type NamedFile, readTexts, withoutTop } from './dropped-files.ts';

const policyKinds =
  /^kind:\s*["']?(?:(?:Cluster|(?:Namespaced)?Mutating|MutatingAdmission)?Policy(?:Exception|Binding)?|GlobalContextEntry)["']?\s*$/m;

/** Why dropped files could not be opened. */
export const dropError = signal<string | undefined>(undefined);

/** Files and folders dropped anywhere on the page open as tabs. Returns the function that stops this. */
export function acceptDrops(): () => void {
  const over = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  };
  const drop = (event: DragEvent) => {
    if (event.dataTransfer === null || !event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    dropError.value = undefined;
    droppedFiles(event.dataTransfer)
      .then(openFiles)
      .catch((error: unknown) => {
        dropError.value = error instanceof Error ? error.message : String(error);
      });
  };
  addEventListener('dragover', over);
  addEventListener('drop', drop);
  return () => {
    removeEventListener('dragover', over);
    removeEventListener('drop', drop);
  };
}

const isKustomization = (name: string) => /(?:^|\/)(?:kustomization\.ya?ml|Kustomization)$/.test(name);
const isTest = (name: string) => /(?:^|\/)kyverno-test\.ya?ml$/.test(name);
const isYaml = (name: string) => /\.(?:ya?ml|json)$/.test(name);

/** The files of a test or a kustomization replace those of the page; others become tabs. */
export async function openFiles(files: readonly NamedFile[]): Promise<void> {
  if (files.some(({ name }) => isTest(name))) {
    openWorkspace(await engine.run('openTest', await readTexts(files.filter(({ name }) => isYaml(name)))));
    return;
  }
  if (files.some(({ name }) => isKustomization(name))) {
    const { openKustomization } = await import('../kustomize/open.ts');
    openKustomization(withoutTop(await readTexts(files)));
    return;
  }
  const isFolder = files.some(({ name }) => name.includes('/'));
  const wanted = isFolder ? files.filter(({ name }) => isYaml(name)) : files;
  for (const source of await readTexts(wanted)) addSource(roleOf(source.text), source);
}

function roleOf(text: string): SourceRole {
  return policyKinds.test(text) ? 'policies' : 'resources';
}
