import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Running, startSession } from '../cli/playground.testing.ts';
import { describeUnless } from '../needs.testing.ts';
import { launch, noBrowser, settled, typeInto, type WatchedPage, watchPage } from './page.testing.ts';

const pod = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n';
const policy = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: p
spec:
  rules:
  - name: r
    match: {any: [{resources: {kinds: [Pod]}}]}
    mutate: {patchStrategicMerge: {metadata: {labels: {team: shop}}}}
`;
const files = {
  'policy.yaml': policy,
  'pod.yaml': pod,
  'base/kustomization.yaml': 'resources: [pod.yaml]\n',
  'base/pod.yaml': pod,
  'top/kustomization.yaml': 'resources: [../base]\nnamePrefix: top-\n',
};

describeUnless(noBrowser)('kymera playground in a browser', () => {
  let browser: Browser;
  let running: Running | undefined;
  let opened: WatchedPage | undefined;

  const open = async (...args: string[]) => {
    running = await startSession(files, 'policy.yaml', ...args);
    opened = await watchPage(browser, running.address.href);
    await opened.page.goto(running.address.href);
    await settled(opened.page);
    return { page: opened.page, folder: running.folder };
  };

  beforeAll(async () => {
    browser = await launch();
  }, 300_000);
  afterAll(() => browser?.close());
  afterEach(async () => {
    const offences = opened?.offences ?? [];
    await opened?.close();
    expect(await running?.stop()).toBe(0);
    expect(offences).toEqual([]);
  });

  it('--write saves what is typed, and changes on disk appear', async () => {
    const { page, folder } = await open('-r', 'pod.yaml', '--write');
    await typeInto(page, 'Object source', pod.replace('web', 'typed'));
    await expect.poll(() => readFileSync(join(folder, 'pod.yaml'), 'utf8')).toContain('name: typed');
    await expect.poll(() => page.locator('.status').textContent()).toContain('Saved pod.yaml.');
    writeFileSync(join(folder, 'pod.yaml'), pod.replace('web', 'from-disk'));
    await expect.poll(() => page.locator('.diff').textContent()).toContain('from-disk');
    expect(await page.getByLabel('Object source').textContent()).toContain('from-disk');
  });

  it('-k opens the kustomization with its base, and saves its files', async () => {
    const { page, folder } = await open('-k', 'top', '--write');
    const shown = page.getByRole('region', { name: 'Pod top-web' });
    await expect.poll(() => shown.textContent()).toContain('team: shop');
    await page.getByRole('tab', { name: 'base/pod.yaml' }).click();
    await typeInto(page, 'File source', `${pod}spec: {hostNetwork: true}\n`);
    await expect.poll(() => readFileSync(join(folder, 'base/pod.yaml'), 'utf8')).toContain('hostNetwork');
    await expect.poll(() => shown.textContent()).toContain('hostNetwork: true');
    writeFileSync(join(folder, 'top/kustomization.yaml'), 'resources: [../base]\nnamePrefix: disk-\n');
    await expect.poll(() => page.getByRole('region', { name: 'Pod disk-web' }).count()).toBe(1);
  });
});
