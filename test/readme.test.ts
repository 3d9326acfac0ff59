import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** Everything typed in the README, in order, with what is printed after it. */
const steps = [...readme.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
  block
    .split(/^\$ /m)
    .filter((step) => step !== '')
    .map((step) => {
      const end = step.indexOf('\n');
      return [step.slice(0, end), step.slice(end + 1)] as const;
    }),
);

/** A clone as a newcomer has it, apart from this one. */
function clone(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-readme-'));
  for (const name of ['bin', 'policies']) symlinkSync(join(root, name), join(folder, name));
  return folder;
}

describe('README', () => {
  const cwd = clone();

  it.each(steps)('%s', (command, output) => {
    const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' };
    const { stdout, stderr } = spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' });
    expect(`${stdout}${stderr}`.replace(/^\n/, '')).toBe(output);
  });

  it('shows some steps', () => expect(steps.length).toBeGreaterThan(0));

  it('shows the policy as it is in the samples', () => {
    const [, shown = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(readme) ?? [];
    const sample = readFileSync(join(root, 'policies/image-defaults/policy.yaml'), 'utf8');
    expect(rulesOf(shown)).toBe(rulesOf(sample));
  });
});

function rulesOf(policy: string): string {
  return policy.slice(policy.indexOf('spec:')).replaceAll(/^ *#.*\n/gm, '');
}
