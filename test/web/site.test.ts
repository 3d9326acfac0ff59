import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeUnless } from '../needs.testing.ts';
import { launch, noBrowser, settled, watchPage } from './page.testing.ts';
import { serveFolder } from './static-server.testing.ts';

const root = join(import.meta.dirname, '../..');
const folder = '.cache/site-test';

describeUnless(noBrowser)('the documentation site in a browser', () => {
  let cannotBuild: string | undefined;
  let browser: Browser;
  let site: Awaited<ReturnType<typeof serveFolder>>;

  beforeAll(async () => {
    const built = spawnSync('node', ['scripts/build-site.mjs', '--base', '/help/', '--out', folder], {
      cwd: root,
      encoding: 'utf8',
    });
    if (built.status === 3) cannotBuild = built.stderr.trim();
    else if (built.status !== 0) throw new Error(`the site cannot be built: ${built.stderr}${built.stdout}`);
    browser = await launch();
    site = await serveFolder(join(root, folder), '/help/');
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  it('finds an error code by search, and opens a policy of the cookbook in the playground', async ({
    skip,
  }) => {
    if (cannotBuild !== undefined) skip(cannotBuild);
    const { page, offences, close } = await watchPage(browser, site.address);
    await page.goto(site.address);
    expect(await page.title()).toContain('Kymera');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill('KYM_BUDGET_EXHAUSTED');
    await page.locator('.result', { hasText: 'KYM_BUDGET_EXHAUSTED' }).first().click();
    // The headings of the former page stay until the next one is loaded.
    await page.locator('main', { hasText: 'KYM_BUDGET_EXHAUSTED' }).waitFor();
    await page.goto(`${site.address}cookbook.html`);
    await page.getByRole('link', { name: 'Open in playground' }).first().click();
    await settled(page);
    expect(new URL(page.url()).hash).toMatch(/^#example=cookbook\//);
    await page.locator('.diff .line:not(.same)').first().waitFor();
    expect(offences).toEqual([]);
    await close();
  });
});
