import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SourceRole } from '../../web/engine/workspace.ts';
import { collectExamples } from '../../web/gallery/collect.ts';
import type { Example } from '../../web/gallery/example.ts';
import { kymera } from '../cli/in-process.testing.ts';
import { describeUnless } from '../needs.testing.ts';
import { noBrowser, type Playground, startPlayground, type WatchedPage } from './page.testing.ts';

const examples = collectExamples(join(import.meta.dirname, '../..'));

/** What `kymera apply` or `kymera build` prints for the files of an example. */
async function printed({ workspace }: Example): Promise<string> {
  const files: Record<string, string> = {};
  const names = (role: SourceRole) =>
    (workspace[role] ?? []).map(({ name, text }) => {
      files[`${role}/${name}`] = text;
      return `${role}/${name}`;
    });
  if (workspace.folder !== undefined) {
    names('files');
    const policies = names('policies');
    const flags = policies.length === 0 ? [] : ['--policies', ...policies];
    return (await kymera(['build', join('files', workspace.folder), ...flags], { files })).stdout;
  }
  const context = names('context');
  const { stdout } = await kymera(
    [
      'apply',
      ...names('policies'),
      '-r',
      ...names('resources'),
      ...(context.length === 0 ? [] : ['--target-resource', ...context]),
      '-o',
      'yaml',
      '-q',
    ],
    { files },
  );
  return stdout;
}

it('the gallery has the samples, the cookbook, and the examples of the documents', () => {
  const groups = new Map<string, number>();
  for (const { group } of examples) groups.set(group, (groups.get(group) ?? 0) + 1);
  expect([...groups.keys()]).toEqual(['Samples', 'Cookbook', 'Kustomize', 'Reference', 'Documents']);
  expect(groups.get('Cookbook')).toBeGreaterThanOrEqual(20);
  expect(new Set(examples.map(({ id }) => id)).size).toBe(examples.length);
});

describeUnless(noBrowser)('the gallery in a browser', () => {
  let playground: Playground;
  let opened: WatchedPage;

  beforeAll(async () => {
    playground = await startPlayground();
    opened = await playground.open();
    await opened.page.getByRole('button', { name: 'YAML', exact: true }).click();
  }, 300_000);
  afterAll(async () => {
    expect(opened?.offences).toEqual([]);
    await playground?.close();
  });

  it('the page takes at most 700 KB, gzipped', () => {
    const folder = join(import.meta.dirname, '../../dist/web');
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const files = names.map((name) => join(folder, name)).filter((file) => statSync(file).isFile());
    const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
    expect(bytes).toBeLessThan(700 * 1024);
    expect(bytes).toBeGreaterThan(100 * 1024);
  });

  it('finds an example by its words and opens it', async () => {
    const { page } = opened;
    await page.getByRole('button', { name: 'Gallery' }).click();
    await page.getByLabel('Search examples').fill('ndots');
    await page.keyboard.press('Tab');
    await page.locator('.card').first().press('Enter');
    await expect.poll(() => page.getByLabel('Policy source').textContent()).toContain('ndots');
  });

  it.each(examples)('$id: the same bytes as on the command line', async (example) => {
    const { page } = opened;
    await page.goto(`${playground.address}#example=${example.id}`);
    const expected = await printed(example);
    expect(expected).not.toBe('');
    await expect.poll(() => page.locator('pre.text').textContent()).toBe(expected);
  });
});
