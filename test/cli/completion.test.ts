import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, test } from 'vitest';
import { describeUnless } from '../needs.testing.ts';
import { kymera } from './in-process.testing.ts';

function has(shell: string): boolean {
  return spawnSync(shell, ['-c', 'exit 0']).status === 0;
}

describeUnless(has('bash') ? undefined : 'bash is not installed')('in bash', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-completion-'));
  beforeAll(async () => {
    writeFileSync(join(folder, 'script'), (await kymera(['completion', 'bash'])).stdout);
    for (const file of ['policy.yaml', 'pod one.yaml']) writeFileSync(join(folder, file), '');
  });

  function bash(commands: string): string[] {
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', `source ./script; ${commands}`], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    return stdout.split('\n').slice(0, -1);
  }

  /** What the shell proposes for a line that ends where the cursor is. */
  function proposals(...words: string[]): string[] {
    const list = words.map((word) => `'${word}'`).join(' ');
    const print = 'for word in "$' + '{COMPREPLY[@]}"; do echo "$word"; done';
    return bash(`COMP_WORDS=(kymera ${list}); COMP_CWORD=${words.length}; _kymera; ${print}`);
  }

  it('is registered for the program and the kubectl plugin', () => {
    expect(bash('complete -p kymera kubectl-kymera')).toEqual([
      'complete -F _kymera kymera',
      'complete -F _kymera kubectl-kymera',
    ]);
  });

  test.each<[string[], string[]]>([
    [['va'], ['validate']],
    [
      ['jp', ''],
      ['query', 'parse', 'functions', 'function'],
    ],
    [['create', 'p'], ['policy']],
    [
      ['validate', '-o', ''],
      ['text', 'json', 'sarif', 'github'],
    ],
    [['validate', '--format', '=', 's'], ['sarif']],
    [['validate', '--st'], ['--strict']],
    [['validate', 'pol'], ['policy.yaml']],
    [['validate', 'pod'], ['pod one.yaml']],
    [
      ['apply', 'policy.yaml', '-r', 'po'],
      ['pod one.yaml', 'policy.yaml'],
    ],
    [['create', 'test', '--fo'], ['--force']],
    [['create', 'policy', '--kind', ''], []],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['jp', 'functions', ''], []],
  ])('%j proposes %j', (words, expected) => {
    expect(proposals(...words).sort()).toEqual([...expected].sort());
  });

  it('proposes every command first', () => {
    expect(proposals('')).toEqual(
      expect.arrayContaining(['apply', 'test', 'explain', 'validate', 'jp', 'create']),
    );
  });
});

test.each([
  ['zsh', "'(-o --format)'{-o,--format}'[output format]:value:(text json sarif github)'"],
  [
    'fish',
    "complete -c kymera -n '__kymera_is \\'jp query\\'' -s u -l unquoted -d 'print a string without quotes'",
  ],
])('for %s every command and flag is there', async (shell, line) => {
  const { stdout } = await kymera(['completion', shell]);
  expect(stdout).toContain(line);
  for (const word of ['apply', 'create', 'exception', 'functions', 'strict', 'watch'])
    expect(stdout).toContain(word);
});

test('zsh can read its script', async ({ skip }) => {
  if (!has('zsh')) skip('zsh is not installed');
  const { stdout } = await kymera(['completion', 'zsh']);
  expect(spawnSync('zsh', ['-n'], { input: stdout, encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  });
});

test('fish can read its script', async ({ skip }) => {
  if (!has('fish')) skip('fish is not installed');
  const { stdout } = await kymera(['completion', 'fish']);
  expect(spawnSync('fish', ['-n'], { input: stdout, encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  });
});

test('another shell is refused', async () => {
  expect((await kymera(['completion', 'tcsh'])).exitCode).toBe(2);
});
