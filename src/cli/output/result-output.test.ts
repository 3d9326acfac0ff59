import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Io } from '../io.ts';
import { openResultOutput, writeFiles } from './result-output.ts';

function fresh(): string {
  return mkdtempSync(join(tmpdir(), 'kymera-write-'));
}

describe('writeFiles', () => {
  it('keeps the mode of a file that it replaces, and links', async () => {
    const cwd = fresh();
    writeFileSync(join(cwd, 'a'), 'old', { mode: 0o640 });
    symlinkSync('a', join(cwd, 'link'));
    await writeFiles([{ file: 'link', text: 'new' }], { cwd });
    expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('new');
    expect(statSync(join(cwd, 'a')).mode & 0o777).toBe(0o640);
    expect(readdirSync(cwd)).toEqual(['a', 'link']);
  });

  it('changes nothing when one of the files cannot be written', async () => {
    const cwd = fresh();
    writeFileSync(join(cwd, 'a'), 'old');
    const files = [
      { file: 'a', text: 'new' },
      { file: 'missing/b', text: 'new' },
    ];
    await expect(writeFiles(files, { cwd })).rejects.toThrow(/the file cannot be written: ENOENT/);
    expect(readFileSync(join(cwd, 'a'), 'utf8')).toBe('old');
    expect(readdirSync(cwd)).toEqual(['a']);
  });
});

describe('a folder', () => {
  it('gets one file for each name once the results are released', async () => {
    const cwd = fresh();
    mkdirSync(join(cwd, 'out'));
    const output = await openResultOutput('out', { cwd } as Io);
    await output.write('a: 1\n', 'web');
    await output.write('a: 2\n', 'web');
    await output.write('b: 1\n', '../escape');
    expect(readdirSync(join(cwd, 'out')).filter((name) => !name.startsWith('.'))).toEqual([]);
    await output.release();
    expect(readdirSync(join(cwd, 'out'))).toEqual(['__escape-mutated.yaml', 'web-mutated.yaml']);
    expect(readFileSync(join(cwd, 'out/web-mutated.yaml'), 'utf8')).toBe('a: 1\n---\na: 2\n');
  });
});
