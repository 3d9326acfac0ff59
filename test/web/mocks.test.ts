import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { kymera } from '../cli/in-process.testing.ts';
import { describeUnless } from '../needs.testing.ts';
import {
  changedLines,
  noBrowser,
  type Playground,
  saveTest,
  seriousProblems,
  startPlayground,
  typeInto,
  type WatchedPage,
} from './page.testing.ts';

const policy = `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: user
  annotations: {pod-policies.kyverno.io/autogen-controllers: none}
spec:
  rules:
  - name: from-image
    match: {any: [{resources: {kinds: [Pod]}}]}
    context:
    - name: image
      imageRegistry: {reference: "{{ request.object.spec.containers[0].image }}"}
    mutate:
      patchStrategicMerge: {metadata: {labels: {user: "{{ image.configData.config.User }}"}}}
`;
const pod =
  'apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {app: web}}\nspec:\n  containers:\n  - {name: app, image: "app:1"}\n';
const hostile = '../../<img src=x onerror="throw 1">.yaml';

describeUnless(noBrowser)('mocks in the playground', () => {
  let playground: Playground;
  let opened: WatchedPage | undefined;

  beforeAll(async () => {
    playground = await startPlayground();
  }, 300_000);
  afterAll(() => playground?.close());
  afterEach(async () => {
    const offences = opened?.offences ?? [];
    await opened?.close();
    expect(offences).toEqual([]);
  });

  it('have an editor with problems at their line, and image data becomes part of a saved test', async () => {
    opened = await playground.open({
      policies: [{ name: hostile, text: policy }],
      resources: [{ name: 'pod.yaml', text: pod }],
    });
    const { page } = opened;
    await page.getByRole('button', { name: /^Context/ }).click();
    await page.getByRole('button', { name: 'Add a mock' }).click();
    const label = 'Mock of image app:1';
    await expect.poll(() => page.getByLabel(label).textContent()).toContain('configData:');
    await typeInto(page, label, 'configData:\n  config: {User: "1000"}}\n');
    const problem = page.getByRole('alert').filter({ hasText: /^line \d/ });
    await problem.waitFor();
    const underlined = page.locator('.mock .cm-lintRange-error').first();
    expect(await underlined.evaluate((node) => node.closest('.cm-line')?.textContent)).toContain('config: {');
    await typeInto(page, label, 'configData:\n  config: {User: "1000"}\n');
    await expect.poll(() => changedLines(page)).toContainEqual(expect.stringContaining('user: "1000"'));
    expect(await problem.count()).toBe(0);
    expect(await seriousProblems(page)).toEqual([]);

    const folder = join(await saveTest(page), 'kymera-test');
    // The name of the policy comes from a link: it must not leave the folder.
    expect(readdirSync(folder)).toContain('<img src=x onerror="throw 1">.yaml');
    expect(readFileSync(join(folder, 'kyverno-test.yaml'), 'utf8')).toContain('imageData:');
    const { exitCode, stdout } = await kymera(['test', '.'], { folder });
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(' 0 failed') });
  });
});
