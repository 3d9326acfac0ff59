import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import axe from 'axe-core';
import { expect, it } from 'vitest';
import { type PageFiles, readPageFiles } from '../../src/server/page.ts';
import { describeUnless } from '../needs.testing.ts';
import { labelPolicy, pod, reviewOf, startTestServer } from '../server/running-server.testing.ts';
import { changedLines, launch, noBrowser, settled, watchPage } from './page.testing.ts';

const root = join(import.meta.dirname, '../..');
const liveToken = 'a-token-that-nobody-guesses';

describeUnless(noBrowser)('the live view in a browser', { timeout: 300_000 }, () => {
  it('asks for the token, follows decisions, and opens one in the playground', async () => {
    const built = spawnSync('node', ['scripts/build-web.mjs', '--if-needed'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(built.status, built.stderr).toBe(0);
    const page = readPageFiles(join(root, 'dist/web')) as PageFiles;
    const server = await startTestServer(labelPolicy('labels', 'team: web'), {
      page,
      liveToken,
      keepDecisions: 10,
    });
    const browser = await launch();
    try {
      const watched = await watchPage(browser, server.url, { ignoreHTTPSErrors: true });
      await watched.page.goto(`${server.url}/#live`);
      await watched.page.getByLabel('Token of the live view').fill(liveToken);
      await watched.page.getByRole('button', { name: 'Open' }).click();
      await watched.page.getByRole('cell', { name: 'labels' }).waitFor();
      await watched.page.getByText('No review has been answered yet.').waitFor();

      await server.post('/mutate', reviewOf(pod, { uid: 'one' }));
      await watched.page.getByRole('cell', { name: 'labels/rule' }).waitFor();
      await watched.page.evaluate(axe.source);
      const { violations } = await watched.page.evaluate(() =>
        (globalThis as unknown as { axe: typeof axe }).axe.run(),
      );
      expect(violations.map(({ id }) => id)).toEqual([]);
      expect(watched.page.url()).not.toContain(liveToken);

      await watched.page.getByRole('button', { name: 'Open Pod shop/web in the playground' }).click();
      await settled(watched.page);
      expect(await changedLines(watched.page)).toEqual(
        expect.arrayContaining([expect.stringMatching(/^\+ *team: web \| labels.*rule/)]),
      );
      expect(watched.offences).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
