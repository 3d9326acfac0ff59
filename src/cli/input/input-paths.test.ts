import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, it, test } from 'vitest';
import { InputError } from '../../problem.ts';
import { expandGlob, expandInputs } from './input-paths.ts';

const nobody = 65_534;

it('a folder that may not be read is a problem of the input, with its name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-input-'));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'policies/private'), { recursive: true });
  chmodSync(join(folder, 'policies/private'), 0);
  const isRoot = process.geteuid?.() === 0;
  // Rights do not hold for root.
  if (isRoot) process.seteuid?.(nobody);
  const failure = await expandInputs(['policies'], folder)
    .catch((error: unknown) => error)
    .finally(() => (isRoot ? process.seteuid?.(0) : undefined));
  expect(failure).toBeInstanceOf(InputError);
  expect(String(failure)).toContain('the folder policies/private cannot be read');
});

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kymera-glob-'));
  for (const name of [
    'a.yaml',
    'b.yml',
    'c.json',
    'd/e.yaml',
    'd/f/g.yaml',
    '.hidden.yaml',
    'd/.git/x.yaml',
    'x+y.yaml',
  ]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), '');
  }
});

test.each([
  ['*.yaml', ['a.yaml', 'x+y.yaml']],
  ['?.y*ml', ['a.yaml', 'b.yml']],
  ['**/*.yaml', ['a.yaml', 'd/e.yaml', 'd/f/g.yaml', 'x+y.yaml']],
  ['d/**', ['d/e.yaml', 'd/f/g.yaml']],
  ['d/*/*.yaml', ['d/f/g.yaml']],
  ['*/e.yaml', ['d/e.yaml']],
  ['[ab].y*', ['a.yaml', 'b.yml']],
  ['[!a].yml', ['b.yml']],
  ['{a,b}.{yaml,yml}', ['a.yaml', 'b.yml']],
  ['x+*.yaml', ['x+y.yaml']],
  ['.*.yaml', ['.hidden.yaml']],
  ['nope/*.yaml', []],
])('%s', async (pattern, expected) => {
  expect(await expandGlob(pattern, folder)).toEqual(expected);
});

test('an absolute pattern', async () => {
  expect(await expandGlob(`${folder}/d/*.yaml`, '/')).toEqual([`${folder}/d/e.yaml`]);
});

test('hidden folders are searched only on request, and .git never', async () => {
  const names = async (options?: { hiddenFolders: boolean }) =>
    (await expandInputs(['tests'], hidden, options)).map(({ file }) => file);
  const hidden = mkdtempSync(join(tmpdir(), 'kymera-hidden-'));
  for (const name of ['a.yaml', '.b.yaml', '.kyverno-test/c.yaml', '.git/d.yaml', 'node_modules/e.yaml']) {
    mkdirSync(dirname(join(hidden, 'tests', name)), { recursive: true });
    writeFileSync(join(hidden, 'tests', name), '');
  }
  expect(await names()).toEqual(['tests/a.yaml']);
  expect(await names({ hiddenFolders: true })).toEqual(['tests/.kyverno-test/c.yaml', 'tests/a.yaml']);
});
