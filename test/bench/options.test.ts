import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'kymera-options-'));
const broken = join(folder, 'broken.json');
const other = join(folder, 'other.json');
writeFileSync(broken, '{"figures": [');
writeFileSync(other, '{"name": "kymera"}');

function run(script: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, script), ...args], {
    encoding: 'utf8',
    timeout: 600_000,
  });
  return { status, stdout, stderr };
}

describe('a wrong option ends the command at once, with one line', () => {
  it.each([
    ['bench/run.mjs', ['--foo'], '--foo is not an option: choose from --only, --compare, --enforce'],
    ['bench/run.mjs', ['engine'], 'engine is not an option: choose from --only'],
    ['bench/run.mjs', ['--enforce=no'], '--enforce takes no value'],
    ['bench/run.mjs', ['--only'], '--only needs a value'],
    [
      'bench/run.mjs',
      ['--only', 'serve'],
      '--only serve: choose one of engine, growth, server, commands, build',
    ],
    ['bench/run.mjs', ['--only', 'toString'], '--only toString: choose one of engine'],
    ['bench/run.mjs', ['--compare', join(folder, 'none')], 'none: ENOENT'],
    ['bench/run.mjs', ['--compare', broken], 'broken.json: Unexpected end of JSON input'],
    ['bench/run.mjs', ['--compare', other], 'other.json: the file has no figures'],
    ['bench/run.mjs', ['--seconds', '0'], '--seconds must be a positive number, not 0'],
    ['bench/run.mjs', ['--rounds', '1.5'], '--rounds must be a positive whole number, not 1.5'],
    ['bench/run.mjs', ['--warm-up', '-1'], '--warm-up must be a number of at least 0, not -1'],
    ['bench/server.mjs', ['--workers', 'two'], '--workers must be a positive whole number, not two'],
    ['bench/server.mjs', ['--url', 'nowhere'], '--url nowhere: Invalid URL'],
    ['bench/server.mjs', ['--url', 'http://127.0.0.1:1/'], 'webhooks are called over https'],
    ['bench/server.mjs', ['--url', 'https://127.0.0.1:1/'], 'connect ECONNREFUSED 127.0.0.1:1'],
    ['bench/server.mjs', ['--url', 'https://127.0.0.1:1/', '--ca', join(folder, 'none')], 'none'],
    ['e2e/soak/run.mjs', ['--minutes', '0'], '--minutes must be a positive number, not 0'],
    ['e2e/soak/run.mjs', ['--minutes', '-3'], '--minutes must be a positive number, not -3'],
    ['e2e/soak/run.mjs', ['--minutes', 'Infinity'], '--minutes must be a positive number, not Infinity'],
    ['e2e/soak/run.mjs', ['--share', '80'], '--share must be a number above 0 and at most 1, not 80'],
    ['e2e/faults/run.mjs', ['--only', 'x'], '--only is not an option: this command has no options'],
  ])('%s %j', (script, args, line) => {
    const { status, stdout, stderr } = run(script, ...args);
    expect(stderr).toContain(line);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });
});

it('the commands need no package before they install packages', () => {
  const bare = join(folder, 'bare');
  mkdirSync(bare);
  for (const part of ['bench', 'e2e', 'scripts', 'package.json'])
    cpSync(join(root, part), join(bare, part), { recursive: true });
  for (const script of ['bench/run.mjs', 'bench/server.mjs', 'e2e/soak/run.mjs', 'e2e/faults/run.mjs']) {
    const { stderr } = spawnSync(process.execPath, [join(bare, script), '--foo'], { encoding: 'utf8' });
    expect(stderr, script).toMatch(/^--foo is not an option/);
  }
});
