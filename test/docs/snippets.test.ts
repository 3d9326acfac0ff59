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
 * How the blocks of a page are tested, by their first word:
 * - `console`: each line after `$ ` is run, and must print what stands below it; a line `…` stands for any lines.
 *   `console cluster` is run by the e2e suite
 * - `sh`: run as a whole, and must end well. `sh cluster` is run by the e2e suite; what `sh elsewhere` shows is run by other suites
 * - `yaml`, `json`: must be readable; policies among them must load. `file=NAME` also puts the block into that file
 *   of the page's working folder, for the commands after it
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

/** Tested as what they are: the examples of help texts, and cases of the conformance suite. */
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
    it(`${at}: ${block.language} can be read`, () => {
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
      it(`${at}: is put into ${file}`, () => {
        mkdirSync(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), block.text);
      });
    }
  }
}

/** A clone as a newcomer has it, apart from this one. */
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
    timeout: 60_000,
  });
  return { status, printed: `${stdout}${stderr}`.replace(/^\n/, '') };
}

it('the README shows its first policy as it is in the samples', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, shown = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(readme) ?? [];
  const sample = readFileSync(join(root, 'policies/image-defaults/policy.yaml'), 'utf8');
  const rulesOf = (policy: string) => policy.slice(policy.indexOf('spec:')).replaceAll(/^ *#.*\n/gm, '');
  expect(rulesOf(shown)).toBe(rulesOf(sample));
});
