import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '../../src/json/value.ts';
import { type Finished, kymera } from '../cli/in-process.testing.ts';

export interface BuildCase {
  /** Of the folder that is built; those that begin with `#!` are executable. */
  readonly files: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Built extends Finished {
  readonly folder: string;
  readonly objects: readonly JsonObject[];
}

/** `kymera build .` in a fresh folder, which `{HERE}` stands for in the environment. */
export async function build({ files, flags = [], env = {} }: BuildCase): Promise<Built> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'kymera-build-')));
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    if (text.startsWith('#!')) chmodSync(path, 0o755);
  }
  const environment = { PATH: process.env['PATH'] ?? '', HOME: join(folder, 'home'), ...env };
  const finished = await kymera(['build', '.', ...flags], {
    folder,
    env: Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [name, value.replaceAll('{HERE}', folder)]),
    ),
  });
  return { ...finished, folder, objects: objectsIn(finished.stdout) };
}

export function objectsIn(text: string): readonly JsonObject[] {
  return parseAllDocuments(text).map((document) => document.toJS() as JsonObject);
}

/** The objects of a build that has to succeed. */
export async function objectsOf(buildCase: BuildCase): Promise<readonly JsonObject[]> {
  const { exitCode, stderr, objects } = await build(buildCase);
  if (exitCode !== 0) throw new Error(stderr);
  return objects;
}

/** What is said about a build that has to fail: nothing is printed then. */
export async function failureOf(buildCase: BuildCase): Promise<string> {
  const { exitCode, stderr, stdout } = await build(buildCase);
  if (exitCode !== 2 || stdout !== '') throw new Error(`exit code ${exitCode}, printed ${stdout}`);
  return stderr;
}

export const yaml = (...objects: readonly object[]): string =>
  objects.map((object) => JSON.stringify(object)).join('\n---\n');

export const configMap = (name: string, more: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  ...more,
});

export const deployment = (name: string, spec: object = { replicas: 1 }, metadata: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, ...metadata },
  spec,
});
