import { existsSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { describe, it } from 'vitest';

/** Where the conformance data of Kyverno, JMESPath and JSON Patch is. It is not part of this repository. */
export const corpusFolder = resolve(
  import.meta.dirname,
  '..',
  process.env['KYMERA_CONFORMANCE'] ?? '../shared/conformance',
);
export const noCorpus = 'the corpus is not here: set KYMERA_CONFORMANCE to its folder';

/** Why tests of a file cannot run: it does not exist. */
export function unlessBuilt(path: string): string | undefined {
  return existsSync(resolve(import.meta.dirname, '..', path)) ? undefined : `${path} is not built`;
}

/** Why tests of a program cannot run: it is not on the PATH. */
export function unlessInstalled(program: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const isThere = folders.some((folder) => existsSync(resolve(folder, program)));
  return isThere ? undefined : `${program} is not installed`;
}

interface Describe {
  (name: string, tests: () => void): void;
  (name: string, options: { readonly timeout: number }, tests: () => void): void;
}

/** `describe` for tests that need something. If it is missing, one skipped test stands for them and gives the reason. */
export function describeUnless(missing: string | undefined): Describe {
  return missing === undefined ? describe : (name: string) => it(name, ({ skip }) => skip(missing));
}
