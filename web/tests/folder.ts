import { strToU8, zipSync } from 'fflate';
import type { Workspace } from '../engine/workspace.ts';

/** The files of a workspace with a test, as a zip archive of one folder. */
export function zipTest(
  { policies, resources, context, tests }: Workspace,
  folder: string,
): Uint8Array<ArrayBuffer> {
  const files = [...policies, ...resources, ...context, ...tests];
  return zipSync(Object.fromEntries(files.map(({ name, text }) => [`${folder}/${name}`, strToU8(text)])));
}
