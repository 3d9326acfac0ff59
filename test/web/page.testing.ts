import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import { unzipSync } from 'fflate';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { emptyWorkspace, type Workspace } from '../../web/engine/workspace.ts';
import { encodeWorkspace } from '../../web/state/share.ts';
import { serveFolder } from './static-server.testing.ts';

const root = join(import.meta.dirname, '../..');
const program = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';

/** Why the tests of the page cannot run; undefined if they can. */
export const noBrowser = existsSync(program)
  ? undefined
  : `${program} does not exist: install Debian's chromium, or set CHROMIUM_PATH`;

/** A page that records what must not happen: console errors, exceptions, and requests to other origins. */
export interface WatchedPage {
  readonly page: Page;
  readonly offences: string[];
  close(): Promise<void>;
}

export interface Playground {
  /** Opens the page with a workspace and waits for its first result, unless there may be none. */
  open(
    workspace?: Partial<Workspace>,
    options?: BrowserContextOptions,
    hasResult?: boolean,
  ): Promise<WatchedPage>;
  readonly address: string;
  close(): Promise<void>;
}

/** The static build below a path, in a real browser. */
export async function startPlayground(path = '/'): Promise<Playground> {
  const server = await serveFolder(join(root, 'dist/web'), path);
  const browser = await launch();
  return {
    address: server.address,
    open: async (workspace, options, hasResult = true) => {
      const fragment =
        workspace === undefined ? '' : `#state=${encodeWorkspace({ ...emptyWorkspace, ...workspace })}`;
      const watched = await watchPage(browser, server.address, options);
      await watched.page.goto(`${server.address}${fragment}`);
      if (hasResult) await settled(watched.page);
      return watched;
    },
    close: async () => {
      await browser.close();
      await server.close();
    },
  };
}

export function launch(): Promise<Browser> {
  // A container has no user namespaces for the sandbox.
  return chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

export async function watchPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const offences: string[] = [];
  const { origin } = new URL(address);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) offences.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => offences.push(`exception: ${error.message}`));
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== 'blob:') offences.push(`request: ${request.url()}`);
  });
  return { page, offences, close: () => context.close() };
}

/** Waits until the shown result belongs to the current input. */
export async function settled(page: Page): Promise<void> {
  await page.locator('.result[aria-busy=false] .status span').first().waitFor();
}

/** Replaces the text of an editor as a user does. */
export async function typeInto(page: Page, label: string, text: string): Promise<void> {
  const editor = page.getByLabel(label);
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
  await settled(page);
}

/** The changed lines of the diff with their writers. */
export function changedLines(page: Page): Promise<string[]> {
  return page.locator('.diff .line:not(.same)').evaluateAll((lines) =>
    lines.map((line) => {
      const part = (name: string) => line.querySelector(name)?.textContent ?? '';
      return `${part('.sign')}${part('code')} | ${part('.writer')}`;
    }),
  );
}

interface AxeProblem {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe reports as serious or critical. */
export async function seriousProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { violations } = await (
      globalThis as unknown as { axe: { run(): Promise<{ violations: AxeProblem[] }> } }
    ).axe.run();
    return violations;
  });
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`,
    );
}

/** The line of the cursor, if the editor has the focus. */
export function cursorLine(page: Page, label: string): Promise<string> {
  return page
    .getByLabel(label)
    .evaluate(
      (editor) =>
        (editor.contains(editor.ownerDocument.activeElement)
          ? editor.querySelector('.cm-activeLine')?.textContent
          : '') ?? '',
    );
}

/** Saves the state as a test. The folder that it returns contains `kymera-test`. */
export async function saveTest(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Tests', exact: true }).click();
  const downloaded = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as test' }).click();
  const folder = mkdtempSync(join(tmpdir(), 'kymera-saved-'));
  const archive = await (await downloaded).path();
  for (const [name, bytes] of Object.entries(unzipSync(readFileSync(archive)))) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  return folder;
}
