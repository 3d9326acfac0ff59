import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Workspace } from '../../web/engine/workspace.ts';
import { kymera } from '../cli/in-process.testing.ts';
import { describeUnless } from '../needs.testing.ts';
import {
  changedLines,
  noBrowser,
  type Playground,
  seriousProblems,
  settled,
  startPlayground,
  typeInto,
  type WatchedPage,
} from './page.testing.ts';

const screenshotFile = join(import.meta.dirname, '../../docs/images/playground-kustomize.png');

const files: Readonly<Record<string, string>> = {
  'base/kustomization.yaml': 'resources:\n- web.yaml\n',
  'base/web.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  template:
    spec:
      containers:
      - name: app
        image: web:1
        env:
        - name: HOST
          value: none
`,
  'overlays/prod/kustomization.yaml': `resources:
- ../../base
- config.yaml
namePrefix: prod-
patches:
- path: replicas.yaml
replacements:
- source: {kind: ConfigMap, name: config, fieldPath: data.host}
  targets:
  - select: {kind: Deployment}
    fieldPaths:
    - spec.template.spec.containers.*.env.[name=HOST].value
`,
  'overlays/prod/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\ndata:\n  host: shop.example\n',
  'overlays/prod/replicas.yaml':
    'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3\n',
};

const policy = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: labels
spec:
  rules:
  - name: team
    match: {any: [{resources: {kinds: [Deployment]}}]}
    mutate:
      patchStrategicMerge:
        metadata:
          labels:
            team: shop
`;

const workspace = (more: Readonly<Record<string, string>> = {}, withPolicy = true): Partial<Workspace> => ({
  policies: withPolicy ? [{ name: 'p.yaml', text: policy }] : [],
  files: Object.entries({ ...files, ...more }).map(([name, text]) => ({ name, text })),
  folder: 'overlays/prod',
});

describeUnless(noBrowser)('a kustomization in the playground', () => {
  let playground: Playground;
  let opened: WatchedPage | undefined;

  const open = async (...args: Parameters<Playground['open']>) => {
    opened = await playground.open(...args);
    return opened.page;
  };
  const stage = (page: Page, title: string) =>
    page.getByRole('group', { name: 'Stages' }).getByRole('button', { name: title, exact: false });
  const section = (page: Page, title: string) => page.getByRole('region', { name: title, exact: true });

  beforeAll(async () => {
    playground = await startPlayground('/some/where/');
  }, 300_000);
  afterAll(() => playground?.close());
  afterEach(async () => {
    const offences = opened?.offences ?? [];
    await opened?.close();
    opened = undefined;
    expect(offences, 'console errors, exceptions and requests to other origins').toEqual([]);
  });

  it('shows the diff of each stage', async () => {
    const page = await open(workspace());
    await stage(page, 'patches[0]').click();
    await expect
      .poll(() => changedLines(page))
      .toEqual([
        '-  replicas: 1 | overlays/prod › patches[0] (replicas.yaml)',
        '+  replicas: 3 | overlays/prod › patches[0] (replicas.yaml) +1',
      ]);
    const slider = page.getByLabel('Stage', { exact: true });
    await slider.focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toBe('overlays/prod › namePrefix');
    await expect
      .poll(() => changedLines(page))
      .toEqual([
        '-  name: web | overlays/prod › namePrefix',
        '+  name: prod-web | overlays/prod › namePrefix +1',
        '-  name: config | overlays/prod › namePrefix',
        '+  name: prod-config | overlays/prod › namePrefix +1',
      ]);
  });

  it('names the file, field or rule that wrote each line of the output, and goes there', async () => {
    const page = await open(workspace());
    const lines = section(page, 'Deployment prod-web').locator('.line');
    const writerOf = (text: string) => lines.filter({ hasText: text }).locator('.writer').first();
    await expect.poll(() => writerOf('image: web:1').textContent()).toBe('base/web.yaml');
    expect(await writerOf('name: prod-web').textContent()).toBe('overlays/prod › namePrefix +1');
    expect(await writerOf('replicas: 3').textContent()).toBe('overlays/prod › patches[0] (replicas.yaml) +1');
    expect(await writerOf('value: shop.example').textContent()).toBe('overlays/prod › replacements[0] +1');
    expect(await writerOf('team: shop').textContent()).toBe('labels › team');
    await writerOf('image: web:1').click();
    await expect.poll(() => page.getByRole('tab', { selected: true, name: 'base/web.yaml' }).count()).toBe(1);
    await writerOf('team: shop').click();
    await expect
      .poll(() => page.locator('[data-role=policies] .cm-activeLine').textContent())
      .toBe('  - name: team');
    await writerOf('value: shop.example').click();
    await expect
      .poll(() => page.locator('[data-role=files] .cm-activeLine').textContent())
      .toContain('- source:');
  });

  it('draws an arrow from the source line to each target line, and lists the same as links', async () => {
    const page = await open(workspace());
    await stage(page, 'replacements[0]').click();
    // The last stage has arrows, too.
    await expect
      .poll(() => changedLines(page))
      .toContain('-          value: none | overlays/prod › replacements[0]');
    const arrows = page.locator('.arrow path:not(.head)');
    await expect.poll(() => arrows.count()).toBe(1);
    const middleOf = async (text: string) => {
      const line = page.locator('.stage-resource .line:not(.removed)', { hasText: text }).first();
      const box = await line.boundingBox();
      const host = await page.locator('.stage-resources').boundingBox();
      return (box?.y ?? 0) - (host?.y ?? 0) + Math.min((box?.height ?? 0) / 2, 10);
    };
    const distances = async () => {
      const path = ((await arrows.getAttribute('d')) ?? '').replaceAll(',', ' ');
      const start = Number(/^M[\d.]+ ([\d.]+)/.exec(path)?.[1]);
      const end = Number(/([\d.]+) H[\d.]+$/.exec(path)?.[1]);
      return [
        Math.abs(start - (await middleOf('host: shop.example'))) < 1,
        Math.abs(end - (await middleOf('value: shop.example'))) < 1,
      ];
    };
    await expect.poll(distances).toEqual([true, true]);
    const list = page.getByRole('region', { name: 'Replacements' });
    expect(await list.locator('li').first().textContent()).toBe(
      'overlays/prod › replacements[0] shop.example from ConfigMap prod-config data.host' +
        '→ Deployment prod-web spec.template.spec.containers[0].env[0].value',
    );
    await list.getByRole('button', { name: 'data.host' }).press('Enter');
    await expect.poll(() => page.locator('.line:focus code').textContent()).toBe('  host: shop.example');
  });

  it('draws the replacements of a separate file, with their options', async () => {
    const page = await open(
      workspace({
        'overlays/prod/kustomization.yaml':
          'resources: [../../base, config.yaml]\nreplacements:\n- path: image.yaml\n',
        'overlays/prod/image.yaml': `source: {kind: ConfigMap, name: config, fieldPath: data.host}
targets:
- select: {kind: Deployment}
  fieldPaths: [spec.template.spec.containers.0.image]
  options: {delimiter: ":", index: 1}
`,
      }),
    );
    await expect.poll(() => page.locator('.arrow').count()).toBe(1);
    expect(await page.getByRole('region', { name: 'Replacements' }).locator('li').first().textContent()).toBe(
      'overlays/prod/image.yaml[0] shop.example from ConfigMap config data.host' +
        '→ Deployment web spec.template.spec.containers[0].image (delimiter ":", index 1)',
    );
    await page.getByRole('button', { name: 'overlays/prod/image.yaml[0]' }).click();
    await expect
      .poll(() => page.getByRole('tab', { selected: true, name: 'overlays/prod/image.yaml' }).count())
      .toBe(1);
  });

  it('makes the screenshot of the documents', async () => {
    const page = await open(undefined, { viewport: { width: 1280, height: 760 }, colorScheme: 'light' });
    await page.goto(`${playground.address}#example=kustomize/hosts`);
    await stage(page, 'replacements[0]').click();
    await expect.poll(() => page.locator('.arrow').count()).toBe(4);
    await page.locator('.stage-resources').evaluate((element) => element.scrollIntoView());
    const image = await page.screenshot();
    expect(image.length).toBeGreaterThan(20_000);
    // Fonts differ between machines, so the committed image is renewed only on request.
    if (process.env['KYMERA_UPDATE_SCREENSHOT'] === '1') writeFileSync(screenshotFile, image);
    expect(existsSync(screenshotFile)).toBe(true);
  });

  it('completes the fields of a kustomization', async () => {
    const page = await open(workspace());
    await page.getByRole('tab', { name: 'base/kustomization.yaml' }).click();
    await typeInto(page, 'File source', 'resources:\n- web.yaml\nimages:\n- newT');
    // Completion is loaded after the first render.
    await expect
      .poll(
        async () => {
          await page.keyboard.press('Control+Space');
          return page.locator('.cm-completionLabel').allTextContents();
        },
        { interval: 500 },
      )
      .toEqual(['newTag']);
  });

  it('follows the typing, and says where an error is', async () => {
    const page = await open(workspace());
    await page.getByRole('tab', { name: 'overlays/prod/replicas.yaml' }).click();
    await typeInto(page, 'File source', (files['overlays/prod/replicas.yaml'] ?? '').replace('3', '7'));
    await expect.poll(() => section(page, 'Deployment prod-web').textContent()).toContain('replicas: 7');
    await page.getByRole('tab', { name: 'overlays/prod/kustomization.yaml' }).click();
    const text = files['overlays/prod/kustomization.yaml'] ?? '';
    await typeInto(page, 'File source', text.replace('replicas.yaml', 'absent.yaml'));
    await expect
      .poll(() => page.getByRole('list', { name: 'Problems' }).textContent())
      .toContain(
        'overlays/prod/kustomization.yaml:6 patches[0].path: overlays/prod/absent.yaml does not exist',
      );
    await expect.poll(() => page.locator('.cm-lintRange-error').count()).toBe(1);
  });

  it.each([
    ['resources: [https://example.com/remote.yaml]', 'is remote, and nothing can be fetched here'],
    ['helmCharts: [{name: chart}]', 'charts are rendered by helm, which cannot run here'],
  ])('%s: says that it needs the command line', async (text, message) => {
    const page = await open(workspace({ 'overlays/prod/kustomization.yaml': text }));
    await expect.poll(() => page.getByRole('list', { name: 'Problems' }).textContent()).toContain(message);
  });

  it('restores a shared link, builds another folder, and goes back to objects', async () => {
    const page = await open(workspace());
    await page.getByRole('button', { name: 'Share' }).click();
    await page.reload();
    await settled(page);
    await expect.poll(() => page.getByRole('tab', { name: 'overlays/prod/config.yaml' }).count()).toBe(1);
    await page.getByLabel('Build').selectOption('base');
    await expect.poll(() => section(page, 'Deployment web').count()).toBe(1);
    await page.getByRole('button', { name: 'Objects' }).click();
    await expect.poll(() => page.getByText('Nothing to evaluate.').count()).toBe(1);
    await page.getByRole('button', { name: 'Kustomize' }).click();
    await expect.poll(() => section(page, 'Deployment prod-web').count()).toBe(1);
  });

  it('opens a dropped folder, and prints what kymera build prints', async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'kymera-drop-')), 'shop');
    for (const [name, text] of Object.entries({
      ...files,
      '.git/config': 'no',
      'base/logo.png': '\u0000\u00ff',
    })) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), name.endsWith('.png') ? Buffer.from([0x89, 0xff, 0x00]) : text);
    }
    const page = await open({ policies: [] });
    const session = await page.context().newCDPSession(page);
    const data = { items: [], files: [folder], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
      await session.send('Input.dispatchDragEvent', { type, x: 300, y: 300, data });
    }
    await expect.poll(() => page.getByRole('tab', { name: 'overlays/prod/config.yaml' }).count()).toBe(1);
    expect(await page.getByRole('tablist', { name: 'Files' }).getByRole('tab').count()).toBe(5);
    await page.getByRole('button', { name: 'YAML', exact: true }).click();
    const { stdout } = await kymera(['build', 'overlays/prod'], { files });
    await expect.poll(() => page.locator('pre.text').textContent()).toBe(stdout);
  });

  it.each(['light', 'dark'] as const)(
    'axe finds no serious problem: %s, wide and narrow',
    async (colorScheme) => {
      const page = await open(workspace(), { colorScheme });
      await stage(page, 'replacements[0]').click();
      await page.locator('.arrow').first().waitFor();
      expect(await seriousProblems(page)).toEqual([]);
      await page.setViewportSize({ width: 390, height: 844 });
      for (const part of ['Input', 'Result']) {
        await page
          .getByRole('navigation', { name: 'Parts of the page' })
          .getByRole('button', { name: part })
          .click();
        expect(await seriousProblems(page)).toEqual([]);
        const width = await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth);
        expect(width).toBe(390);
      }
    },
  );
});
