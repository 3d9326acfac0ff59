import { strToU8, zipSync } from 'fflate';
import type { SourceText, Workspace } from '../engine/workspace.ts';

/** The files of a workspace with a test, as a zip archive of one folder. */
export function zipTest(
  { policies, resources, context, tests }: Workspace,
  folder: string,
): Uint8Array<ArrayBuffer> {
  const files = [...policies, ...resources, ...context, ...tests];
  return zipSync(Object.fromEntries(files.map(({ name, text }) => [`${folder}/${name}`, strToU8(text)])));
}

const mostBytes = 10 * 1024 * 1024;
const isReadable = (name: string) => /\.(?:ya?ml|json)$/.test(name);

/** The YAML and JSON files that the user chose, with their paths in the folder. */
export async function readFiles(files: readonly File[]): Promise<SourceText[]> {
  const wanted = files.filter((file) => file.size <= mostBytes && isReadable(file.name));
  return Promise.all(
    wanted.map(async (file) => ({ name: file.webkitRelativePath || file.name, text: await file.text() })),
  );
}
