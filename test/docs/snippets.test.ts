import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadPolicies } from '../../src/index.ts';
import {
  type Block,
  blocksOf,
  markdownPages,
  outputShape,
  type Page,
  root,
  stepsOf,
} from './pages.testing.ts';

/**
 * How the code blocks of a page are tested, by language:
 * - `console`: runs each line after `$ `, which must print the lines below it. A line `…` matches any lines.
 *   The e2e specs run `console cluster`.
 * - `sh`: runs the block, which must exit with 0. The e2e specs run `sh cluster`; other tests cover `sh elsewhere`.
 * - `yaml`, `json`: must parse, and policies must load. `file=NAME` also writes the block to that file in the working
 *   folder of the page, for the commands after it.
 */
const languages = new Set([
  'console',
  'sh',
  'yaml',
  'json',
  'diff',
  'text',
  'ts',
  'js',
  'go',
  'dockerfile',
  'promql',
  '',
]);

/** Other tests run these: the examples of the help, and the examples of functions. */
const testedElsewhere = new Set(['docs/reference/cli.md', 'docs/reference/functions.md']);

const pages = markdownPages().filter(
  ({ path }) => !testedElsewhere.has(path) && !path.startsWith('test/conformance/kustomize/'),
);

describe.each(pages.map((page) => [page.path, page] as const))('%s', (_, page) => {
  const folder = workingFolder();
  for (const block of blocksOf(page)) testBlock(page, block, folder);
  it('names the language of each block', () => {
    expect(blocksOf(page).filter(({ language }) => !languages.has(language))).toEqual([]);
  });
});

function testBlock(page: Page, block: Block, folder: string): void {
  const at = `line ${block.line}`;
  if (block.language === 'console' && block.marks.length === 0) {
    for (const [command, output] of stepsOf(block.text)) {
      it(`${at}: $ ${command}`, () => expect(runIn(folder, command).printed).toMatch(outputShape(output)));
    }
  } else if (block.language === 'sh' && block.marks.length === 0) {
    it(`${at}: ${block.text.trim()}`, () => {
      const { status, printed } = runIn(folder, `set -e\n${block.text}`);
      expect(status, printed).toBe(0);
    });
  } else if (block.language === 'yaml' || block.language === 'json') {
    it(`${at}: ${block.language} parses`, () => {
      const documents = parseAllDocuments(block.text).map((document) => document.errors);
      expect(documents.flat()).toEqual([]);
    });
    if (/^apiVersion: (kyverno|kymera|policy\.nirmata)\.io\/|^kind: ClusterPolicy$/m.test(block.text)) {
      it(`${at}: the policy loads`, () => {
        const { problems } = loadPolicies({ file: page.path, text: block.text });
        expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
      });
    }
    const file = block.marks.find((mark) => mark.startsWith('file='))?.slice('file='.length);
    if (file !== undefined) {
      it(`${at}: is written to ${file}`, () => {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), block.text);
      });
    }
  }
}

/** A folder with links to everything in the repository, so that commands of a page can write files. */
function workingFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-docs-'));
  for (const name of readdirSync(root)) {
    if (!name.startsWith('.')) symlinkSync(join(root, name), join(folder, name));
  }
  return folder;
}

function runIn(cwd: string, command: string): { readonly status: number | null; readonly printed: string } {
  const env = {
    ...process.env,
    NO_COLOR: '1',
    FORCE_COLOR: '0',
    PATH: `${join(root, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`,
  };
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 600_000,
  });
  return { status, printed: `${stdout}${stderr}`.replace(/^\n/, '') };
}

it('the policy in the README is the text of the linked file', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, shown] = /^```yaml\n([\s\S]*?)^```$/m.exec(readme) ?? [];
  expect(shown).toBe(readFileSync(join(root, 'policies/image-defaults/policy.yaml'), 'utf8'));
});
