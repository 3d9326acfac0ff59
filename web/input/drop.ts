import type { SourceRole } from '../engine/workspace.ts';
import { addSource, engine, openWorkspace } from '../state/playground.ts';
import { readFiles } from '../tests/folder.ts';

const mostBytes = 10 * 1024 * 1024;
const policyKinds =
  /^kind:\s*["']?(?:(?:Cluster|(?:Namespaced)?Mutating|MutatingAdmission)?Policy(?:Exception|Binding)?|GlobalContextEntry)["']?\s*$/m;

/** Files dropped anywhere on the page open as tabs. Returns the function that stops this. */
export function acceptDrops(): () => void {
  const over = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  };
  const drop = (event: DragEvent) => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    void openFiles(files);
  };
  addEventListener('dragover', over);
  addEventListener('drop', drop);
  return () => {
    removeEventListener('dragover', over);
    removeEventListener('drop', drop);
  };
}

/** The files of a test replace everything; others become tabs. */
async function openFiles(files: readonly File[]): Promise<void> {
  if (files.some(({ name }) => /^kyverno-test\.ya?ml$/.test(name))) {
    openWorkspace(await engine.run('openTest', await readFiles(files)));
    return;
  }
  for (const file of files.filter(({ size }) => size <= mostBytes)) {
    const text = await file.text();
    addSource(roleOf(text), { name: file.name, text });
  }
}

function roleOf(text: string): SourceRole {
  return policyKinds.test(text) ? 'policies' : 'resources';
}
