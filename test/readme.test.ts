import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const sessions = [...readme.matchAll(/^```console\n\$ bin\/kymera (.*)\n([\s\S]*?)^```$/gm)].map(
  ([, command = '', output = '']) => [command, output] as const,
);

describe('README', () => {
  it.each(sessions)('shows what kymera %s prints', (command, output) => {
    const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' };
    const { stdout, stderr } = spawnSync('node', ['bin/kymera', ...command.split(' ')], {
      cwd: root,
      env,
      encoding: 'utf8',
    });
    expect(stdout + stderr).toBe(output);
  });

  it('shows some sessions', () => expect(sessions.length).toBeGreaterThan(0));

  it('shows the policy as it is in the samples', () => {
    const [, shown = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(readme) ?? [];
    const sample = readFileSync(join(root, 'policies/image-defaults/policy.yaml'), 'utf8');
    expect(rulesOf(shown)).toBe(rulesOf(sample));
  });
});

function rulesOf(policy: string): string {
  return policy.slice(policy.indexOf('spec:')).replaceAll(/^ *#.*\n/gm, '');
}
