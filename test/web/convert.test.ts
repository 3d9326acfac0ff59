import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { kymera } from '../cli/in-process.testing.ts';
import { describeUnless } from '../needs.testing.ts';
import {
  cursorLine,
  noBrowser,
  type Playground,
  seriousProblems,
  startPlayground,
  typeInto,
  type WatchedPage,
} from './page.testing.ts';

const rule = (name: string, mutate: string) => `  - name: ${name}
    match: {any: [{resources: {kinds: [ConfigMap]}}]}
    mutate:
      ${mutate}
`;

const policy = (...rules: readonly string[]) => `# Labels of teams.
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: team
spec:
  rules:
${rules.join('')}`;

const label = (value: string) =>
  rule('label', `patchStrategicMerge: {metadata: {labels: {+(team): ${value}}}}`);
const random = rule(
  'random',
  'patchStrategicMerge: {metadata: {labels: {id: "{{ random(\'[a-z]{4}\') }}"}}}',
);

const object = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  key: value\n';
const exception = `apiVersion: kyverno.io/v2
kind: PolicyException
metadata:
  name: settings
  namespace: shop
spec:
  exceptions:
  - policyName: team
    ruleNames: [label]
  match: {any: [{resources: {kinds: [ConfigMap], names: [settings]}}]}
`;
const resources = [{ name: 'o.yaml', text: object }];
const policies = (text: string) => [{ name: 'p.yaml', text }];

describeUnless(noBrowser)('the conversion in a browser', () => {
  let playground: Playground;
  let opened: WatchedPage | undefined;

  const open = async (...args: Parameters<Playground['open']>) => {
    opened = await playground.open(...args);
    await opened.page.getByRole('button', { name: 'Convert', exact: true }).click();
    return opened.page;
  };

  beforeAll(async () => {
    playground = await startPlayground();
  }, 300_000);
  afterAll(() => playground?.close());
  afterEach(async () => {
    const offences = opened?.offences ?? [];
    await opened?.close();
    opened = undefined;
    expect(offences, 'console errors, exceptions and requests to other origins').toEqual([]);
  });

  it.each([
    ['MutatingPolicy', 'mutatingpolicy'],
    ['MutatingAdmissionPolicy', 'map'],
  ])('shows what kymera convert prints, proven: %s', async (kind, to) => {
    const text = policy(label('platform'));
    const page = await open({ policies: policies(text), resources });
    await page.getByRole('button', { name: kind, exact: true }).click();
    const expected = await printed(text, to);
    expect(expected).toContain(`kind: ${kind}`);
    await expect.poll(() => convertedText(page)).toBe(expected);
    await expect
      .poll(() => verdict(page))
      .toMatch(/^equalThe same result on \d+ requests: 2 of your objects/);
    expect(await sides(page)).toEqual([
      ['+  labels:', '+    team: platform'],
      ['+  labels:', '+    team: platform'],
    ]);
  });

  it('converts the exceptions of the file with its policies', async () => {
    const text = `${policy(label('platform'))}---\n${exception}`;
    const page = await open({ policies: policies(text), resources });
    const expected = await printed(text, 'mutatingpolicy');
    expect(expected).toContain('policies.kyverno.io/v1\nkind: PolicyException');
    await expect.poll(() => convertedText(page)).toBe(expected);
    await expect.poll(() => verdict(page)).toMatch(/^equal/);
    expect(await sides(page)).toEqual([[], []]);
  });

  it('compares a policy with conditions of a webhook only alone', async () => {
    const conditions =
      'spec:\n  webhookConfiguration: {matchConditions: [{name: c, expression: \'object.metadata.name != "x"\'}]}';
    const gated = policy(label('platform')).replace('spec:', conditions);
    const page = await open({ policies: policies(gated), resources });
    await expect.poll(() => verdict(page)).toMatch(/^equal/);
    const second = policy(label('x')).replace('name: team', 'name: second');
    await typeInto(page, 'Policy source', `${gated}---\n${second}`);
    await expect.poll(() => verdict(page)).toMatch(/^not compared.*alone in its file/);
  });

  it('follows what is typed into the old policy and the object', async () => {
    const page = await open({ policies: policies(policy(label('platform'))), resources });
    await expect.poll(() => convertedText(page)).toContain("optional.of('platform')");
    await typeInto(page, 'Policy source', policy(label('shop')));
    await expect.poll(() => convertedText(page)).toContain("optional.of('shop')");
    await expect.poll(() => sides(page)).toEqual(Array(2).fill(['+  labels:', '+    team: shop']));
    await typeInto(page, 'Object source', object.replace('\ndata:', '\n  labels: {team: own}\ndata:'));
    await expect.poll(() => sides(page)).toEqual([[], []]);
    await expect.poll(() => verdict(page)).toMatch(/^equal/);
  });

  it('names the clause that cannot be converted, and goes to its line', async () => {
    const page = await open({ policies: policies(policy(label('platform'), random)), resources });
    await page.getByRole('button', { name: 'MutatingAdmissionPolicy', exact: true }).click();
    const refusals = page.getByRole('list', { name: 'Not convertible' });
    await expect.poll(() => refusals.textContent()).toMatch(/team › random: not convertible: .*random/);
    expect(await refusals.textContent()).toContain('spec.rules[1].mutate');
    expect(await page.getByLabel('Converted policy').count()).toBe(0);
    await refusals.getByRole('button').click();
    await expect.poll(() => cursorLine(page, 'Policy source')).toContain('random(');
  });

  it('reports a lost transaction as a difference', async () => {
    const other = label('x').replace('ConfigMap', 'ConfigMap, Secret').replace('name: label', 'name: both');
    const ignoring = policy(label('platform'), other).replace('spec:', 'spec:\n  failurePolicy: Ignore');
    const page = await open({ policies: policies(ignoring), resources });
    const differences = page.getByRole('list', { name: 'Converted, but different' });
    await expect.poll(() => differences.textContent()).toContain('team');
    await expect.poll(() => verdict(page)).toMatch(/^differs/);
  });

  it('shows the difference of an edited policy, and takes the edits back', async () => {
    const page = await open({ policies: policies(policy(label('platform'))), resources });
    await expect.poll(() => verdict(page)).toMatch(/^equal/);
    const converted = await convertedText(page);
    await edit(page, converted.replace("of('platform')", "of('wrong')"));
    await expect.poll(() => verdict(page)).toMatch(/^differsRequest 1 of \d+ has another result\./);
    const fault = await page.locator('.difference dl').textContent();
    expect(fault).toContain('CREATE by alice, ConfigMap');
    expect(fault).toContain('Rulelabel');
    expect(fault).toContain('team-label spec.mutations[0].applyConfiguration.expression');
    expect(await page.getByLabel('Expression at fault').textContent()).toContain("of('wrong')");
    const lines = page.locator('.difference .diff .line:not(.same)');
    expect(await lines.locator('code').allTextContents()).toEqual(['    team: platform', '    team: wrong']);
    await expect.poll(async () => (await sides(page))[1]).toEqual(['+  labels:', '+    team: wrong']);
    await edit(page, `${converted}# A comment changes nothing.\n`);
    await expect.poll(() => verdict(page)).toMatch(/^equal/);
    await edit(page, converted.replace('optional.none()', 'optional.non()'));
    await expect.poll(() => page.getByLabel('Problems of the new policies').textContent()).toContain('non');
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type('# typed slowly', { delay: 5 });
    await expect.poll(() => cursorLine(page, 'Converted policy')).toBe('# typed slowly');
    await page.getByRole('button', { name: 'Undo edits' }).click();
    await expect.poll(() => convertedText(page)).toBe(converted);
    await expect.poll(() => verdict(page)).toMatch(/^equal/);
  });

  it('opens the new policies in place of the old ones, or beside them', async () => {
    const page = await open({ policies: policies(policy(label('platform'))), resources });
    await expect.poll(() => verdict(page)).toMatch(/^equal/);
    const tabs = page.getByRole('tablist', { name: 'Policy files' }).getByRole('tab');
    await page.getByRole('button', { name: 'Open as policy' }).click();
    await expect.poll(() => tabs.allTextContents()).toEqual(['p.yaml', 'p-cel.yaml']);
    await expect.poll(() => page.getByLabel('Policy source').textContent()).toContain('MutatingPolicy');
    await expect
      .poll(() => page.locator('.convert .empty').textContent())
      .toContain('no policy in this file');
    await tabs.first().click();
    await page.getByRole('button', { name: 'Replace policy' }).click();
    await expect.poll(() => page.getByLabel('Policy source').textContent()).toContain('kind: MutatingPolicy');
    expect(await tabs.count()).toBe(2);
  });

  it.each(['light', 'dark'] as const)('has no serious accessibility problem: %s', async (colorScheme) => {
    const text = policy(label('platform'));
    const page = await open({ policies: policies(text), resources }, { colorScheme });
    await expect.poll(() => verdict(page)).toMatch(/^equal/);
    expect(await seriousProblems(page)).toEqual([]);
    await edit(page, (await convertedText(page)).replace("of('platform')", "of('wrong')"));
    await expect.poll(() => verdict(page)).toMatch(/^differs/);
    expect(await seriousProblems(page)).toEqual([]);
    await typeInto(page, 'Policy source', policy(random));
    await page.getByRole('button', { name: 'MutatingAdmissionPolicy', exact: true }).click();
    await page.getByRole('list', { name: 'Not convertible' }).waitFor();
    expect(await seriousProblems(page)).toEqual([]);
  });
});

/** What `kymera convert` prints. */
async function printed(text: string, to: string): Promise<string> {
  const { exitCode, stdout } = await kymera(['convert', 'p.yaml', '--to', to, '-o', 'yaml'], {
    files: { 'p.yaml': text },
  });
  expect(exitCode).toBe(0);
  return stdout;
}

/** The whole text, as a click on Copy takes it: the editor renders only visible lines. */
async function convertedText(page: Page): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copy = page.getByRole('button', { name: 'Copy', exact: true });
  if ((await copy.count()) === 0) return '';
  await copy.click();
  return page.evaluate('navigator.clipboard.readText()');
}

async function edit(page: Page, text: string): Promise<void> {
  await page.getByLabel('Converted policy').click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

async function verdict(page: Page): Promise<string> {
  const line = page.locator('.verdict[aria-busy=false] .verdict-line');
  return (await line.count()) === 0 ? '' : ((await line.textContent()) ?? '');
}

/** The changed lines of the old and the new result. */
function sides(page: Page): Promise<string[][]> {
  return page
    .locator('.sides .side')
    .evaluateAll((found) =>
      found.map((side) =>
        [...side.querySelectorAll('.line:not(.same)')].map(
          (line) =>
            `${line.querySelector('.sign')?.textContent ?? ''}${line.querySelector('code')?.textContent ?? ''}`,
        ),
      ),
    );
}
