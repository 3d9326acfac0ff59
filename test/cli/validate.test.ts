import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import type { Io } from '../../src/cli/io.ts';
import { run } from '../../src/cli/program.ts';
import { kymera } from './in-process.testing.ts';

const fine = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: p
spec:
  rules:
  - name: r
    match:
      any:
      - resources:
          kinds: [Pod]
    mutate:
      patchStrategicMerge:
        metadata:
          labels: {a: b}
`;
const misspelt = fine.replace('mutate:', 'mutat:');
const deprecated = fine.replace('spec:\n', 'spec:\n  failurePolicy: Ignore\n');

describe('kymera validate', () => {
  it('says that all is well, and ends with 0', async () => {
    expect(await kymera(['validate', 'p.yaml'], { files: { 'p.yaml': fine } })).toEqual({
      exitCode: 0,
      stdout: '1 policy loaded: no problems\n',
      stderr: '',
    });
  });

  it('shows the place, the lines around it, the hint, and ends with 1', async () => {
    const { exitCode, stdout } = await kymera(['validate', 'p.yaml'], { files: { 'p.yaml': misspelt } });
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      [
        'p.yaml:12:5: error: unknown field "mutat" [KYM_FIELD_UNKNOWN]',
        '  11 |           kinds: [Pod]',
        '> 12 |     mutat:',
        '     |     ^',
        '  13 |       patchStrategicMerge:',
        '  in: policy p, rule r, /spec/rules/0/mutat',
        '  hint: Did you mean mutate?',
        '',
      ].join('\n'),
    );
    expect(stdout).toMatch(/\n0 policies loaded: 2 errors\n$/);
  });

  it('finds the problems of all files, and broken YAML among them', async () => {
    const { exitCode, stdout } = await kymera(['validate', '.'], {
      files: { 'a.yaml': misspelt, 'b.yaml': 'kind: Policy\na: [\n', 'c.yaml': deprecated },
    });
    expect(exitCode).toBe(1);
    const heads = stdout.split('\n').filter((line) => /^\w\.yaml:/.test(line));
    expect(heads.map((line) => line.replace(/:\d.*\[/, ' [').slice(0, -1))).toEqual([
      'a.yaml [KYM_RULE_TYPE',
      'a.yaml [KYM_FIELD_UNKNOWN',
      'b.yaml [KYM_YAML_SYNTAX',
      'c.yaml [KYM_DEPRECATED',
    ]);
  });

  test.each([
    [[], 0],
    [['--strict'], 1],
    [['--strict', '--ignore', 'KYM_DEPRECATED'], 0],
  ])('warnings with %j end with %s', async (flags, exitCode) => {
    const finished = await kymera(['validate', 'p.yaml', ...flags], { files: { 'p.yaml': deprecated } });
    expect(finished.exitCode).toBe(exitCode);
  });

  it('leaves out no error', async () => {
    const argv = ['validate', 'p.yaml', '--ignore', 'KYM_FIELD_UNKNOWN'];
    expect((await kymera(argv, { files: { 'p.yaml': misspelt } })).exitCode).toBe(1);
  });

  test.each([
    [['validate', 'nowhere.yaml'], 'KYM_INPUT_NOT_FOUND'],
    [['validate', 'pod.yaml'], 'KYM_INPUT_NOT_FOUND'],
    [['validate', 'p.yaml', '--ignore', 'KYM_NOTHING'], 'KYM_USAGE'],
    [['validate', '-', '--watch'], 'KYM_USAGE'],
  ])('%j is bad input', async (argv, code) => {
    const files = { 'pod.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n', 'p.yaml': fine };
    const { exitCode, stderr } = await kymera(argv, { files });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`[${code}]`);
  });

  it('reads standard input', async () => {
    const { exitCode, stdout } = await kymera(['validate', '-'], { stdin: misspelt });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('(stdin):12:5: error');
  });

  it('cuts lines that are wider than the terminal around the place', async () => {
    const wide = fine.replace('labels: {a: b}', `labels: {a: ${'b'.repeat(300)}, c: 1}`);
    const { stdout } = await kymera(['validate', 'p.yaml'], { files: { 'p.yaml': wide } });
    const [row = '', caret = ''] = /^> .*\n.*\^$/m.exec(stdout)?.[0].split('\n') ?? [];
    expect(row.length).toBeLessThanOrEqual(120);
    expect(row.charAt(caret.indexOf('^'))).toBe('c');
  });
});

it('names the rule of a deprecated form', async () => {
  const flat = fine.replace('any:\n      - resources:\n          kinds', 'resources:\n        kinds');
  const { stdout } = await kymera(['validate', 'p.yaml'], { files: { 'p.yaml': flat } });
  expect(stdout).toContain('in: policy p, rule r, /spec/rules/0/match/resources\n');
});

describe('reports', () => {
  it('-o json', async () => {
    const { stdout } = await kymera(['validate', 'p.yaml', '-o', 'json'], {
      files: { 'p.yaml': deprecated },
    });
    expect(JSON.parse(stdout)).toEqual({
      problems: [
        {
          code: 'KYM_DEPRECATED',
          severity: 'warning',
          message: 'failurePolicy is deprecated: use webhookConfiguration.failurePolicy',
          hint: 'kymera convert rewrites it.',
          pointer: '/spec/failurePolicy',
          file: 'p.yaml',
          line: 6,
          column: 3,
          policy: 'p',
        },
      ],
      summary: { errors: 0, warnings: 1, policies: 1, exceptions: 0 },
    });
  });

  it('-o github escapes what would end a command', async () => {
    const files = { 'a,b.yaml': fine.replace('labels: {a: b}', 'labels: {a: 1%}\n          x: {') };
    const { stdout } = await kymera(['validate', 'a,b.yaml', '-o', 'github'], { files });
    expect(stdout).toMatch(/^::error file=a%2Cb\.yaml,line=\d+,col=\d+,title=KYM_YAML_SYNTAX::[^\n]+\n/);
  });

  it('-o sarif names rules and places', async () => {
    const { stdout } = await kymera(['validate', 'x y/p.yaml', '-o', 'sarif'], {
      files: { 'x y/p.yaml': misspelt },
    });
    const log = JSON.parse(stdout);
    expect(log.version).toBe('2.1.0');
    const [sarifRun] = log.runs;
    for (const { ruleId, ruleIndex, level, message, locations } of sarifRun.results) {
      expect(sarifRun.tool.driver.rules[ruleIndex].id).toBe(ruleId);
      expect(level).toBe('error');
      expect(message.text).not.toBe('');
      expect(locations[0].physicalLocation.artifactLocation.uri).toBe('x%20y/p.yaml');
      expect(locations[0].physicalLocation.region.startLine).toBeGreaterThan(0);
    }
    expect(sarifRun.results).toHaveLength(2);
  });
});

test('--watch checks again when a file changes', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'kymera-watch-'));
  const file = join(cwd, 'p.yaml');
  writeFileSync(file, misspelt);
  const abort = new AbortController();
  let printed = '';
  const write = (text: string | Uint8Array) => {
    printed += String(text);
  };
  const output = { isTTY: false, write };
  const nothing = (async function* () {})();
  const io: Io = { stdin: nothing, stdout: output, stderr: output, cwd, env: {}, signal: abort.signal };
  const ended = run(['validate', 'p.yaml', '--watch'], io);
  await expect.poll(() => printed).toContain('2 errors');
  expect(printed).toMatch(/^kymera validate \d\d:\d\d:\d\d, watching 1 file\n/);
  writeFileSync(file, fine);
  await expect.poll(() => printed).toContain('no problems');
  abort.abort();
  expect(await ended).toBe(0);
});
