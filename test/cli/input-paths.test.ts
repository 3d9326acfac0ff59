import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { expandInputs } from '../../src/cli/input/input-paths.ts';
import { InputError } from '../../src/problem.ts';

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
