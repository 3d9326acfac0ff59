import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { kymera } from '../cli/in-process.testing.ts';

/** A kustomization, and what `kymera build` has to make of it. See README.md. */
export interface KustomizeCase {
  readonly id: string;
  readonly title: string;
  /** Ids of the behaviours that it shows. */
  readonly sheet: readonly string[];
  readonly run: {
    readonly dir: string;
    readonly flags?: readonly string[];
    /** `{INPUT}` stands for the folder `input`; an empty text unsets. */
    readonly env?: Readonly<Record<string, string>>;
  };
  /** `ok`, or the code of the error. */
  readonly expect: string;
  /** Why the result is not that of kustomize, where it is not. */
  readonly differs?: string;
  readonly folder: string;
}

export function readKustomizeCases(root: string): readonly KustomizeCase[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(root, name))
    .map((folder) => ({ ...parse(readFileSync(join(folder, 'case.yaml'), 'utf8')), folder }));
}

/** What is wrong with the result of a case; nothing when it is as expected. */
export async function kustomizeFailures(testCase: KustomizeCase): Promise<readonly string[]> {
  const { folder, run, expect } = testCase;
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: '/nonexistent',
    LANG: 'C.UTF-8',
  };
  for (const [name, value] of Object.entries(run.env ?? {})) {
    if (value === '') delete env[name];
    else env[name] = value.replaceAll('{INPUT}', join(folder, 'input'));
  }
  const { exitCode, stdout, stderr } = await kymera(['build', run.dir, ...(run.flags ?? [])], {
    folder,
    env,
  });
  if (expect === 'ok') {
    if (exitCode !== 0) return [`ended with ${exitCode}: ${stderr}`];
    return stdout === expectedOutput(folder) ? [] : [`printed something else:\n${stdout}`];
  }
  const failures: string[] = [];
  if (exitCode === 0) failures.push('ended with 0');
  if (stdout !== '') failures.push('printed something in spite of the error');
  if (!stderr.includes(`[${expect}]`)) failures.push(`did not say ${expect}: ${stderr}`);
  if (/^\s+at .*:\d+:\d+\)?$/m.test(stderr)) failures.push(`printed a stack trace: ${stderr}`);
  return failures;
}

function expectedOutput(folder: string): string {
  const file = join(folder, 'expected.yaml');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
