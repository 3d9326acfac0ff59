import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kymera } from '../cli/in-process.testing.ts';
import { root } from './pages.testing.ts';

const folder = join(root, 'docs/cookbook');
const recipes = readdirSync(folder);

describe('cookbook', () => {
  it('has at least twenty recipes', () => expect(recipes.length).toBeGreaterThanOrEqual(20));

  it.each(recipes)('%s: its test passes', async (name) => {
    const { exitCode, stdout } = await kymera(['test', '.'], { folder: join(folder, name) });
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(' 0 failed') });
  });

  it.each(recipes)('%s: the policy has no warnings', async (name) => {
    const { exitCode, stderr } = await kymera(['validate', 'policy.yaml'], { folder: join(folder, name) });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.not.stringContaining('warning') });
  });

  it.each(recipes)('%s: a second run changes nothing', async (name) => {
    const context = existsSync(join(folder, name, 'context.yaml'))
      ? ['--target-resource', 'context.yaml']
      : [];
    const { stdout } = await kymera(
      ['apply', 'policy.yaml', '-r', 'patched.yaml', ...context, '-o', 'patch', '-q'],
      {
        folder: join(folder, name),
      },
    );
    expect(stdout).not.toContain('"op"');
  });
});
