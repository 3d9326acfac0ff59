import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sidebarOf, stageSite } from '../../site/stage.ts';
import { errorTable } from '../../src/errors.ts';
import { collectExamples } from '../../web/gallery/collect.ts';
import { decodeWorkspace } from '../../web/state/share.ts';
import { blocksOf, proseOf, root } from './pages.testing.ts';

const examples = collectExamples(root);
const { pages, files } = stageSite(root, examples);
const all = [...pages].map(([path, text]) => ({ path, text }));

describe('the pages of the site', () => {
  it.each(all)('$path links only to pages and files of the site', (page) => {
    const links = [...proseOf(page).matchAll(/\]\(([^()\s]+)\)/g)].map(([, link = '']) => link);
    const targets = links
      .filter((link) => !/^[a-z]+:/.test(link) && !link.startsWith('#'))
      .map((link) => posix.join(posix.dirname(page.path), link.split('#')[0] ?? ''));
    const missing = targets.filter(
      (target) => !pages.has(target) && !files.has(target) && target !== 'playground/index.html',
    );
    expect(missing).toEqual([]);
  });

  it('explain every error code', () => {
    expect(Object.keys(errorTable).filter((code) => !pages.has(`errors/${code}.md`))).toEqual([]);
    expect(pages.get('errors/KYM_YAML_SYNTAX.md')).toContain(errorTable.KYM_YAML_SYNTAX.cure);
  });

  it('are listed in the sidebar by the sections of docs/README.md', () => {
    const sections = sidebarOf(root);
    expect(sections.map(({ text }) => text)).toEqual(['Use', 'Reference', 'Development']);
    const links = sections.flatMap(({ items }) => items.map(({ link }) => `${link.slice(1)}.md`));
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((link) => !pages.has(link))).toEqual([]);
  });
});

describe('open in playground', () => {
  const isPolicy = (text: string) => /^kind: \w*Policy$/m.test(text);
  const blocks = all.flatMap((page) =>
    blocksOf(page)
      .filter(({ language, text }) => language === 'yaml' && isPolicy(text))
      .map((block) => ({ page, block })),
  );

  it('is below every policy', () => {
    expect(blocks.length).toBeGreaterThan(40);
    const links = all.map(({ text }) => text.match(/class="open-in-playground"/g)?.length ?? 0);
    expect(links.reduce((sum, count) => sum + count, 0)).toBe(
      blocks.filter(({ block: { marks } }) => marks.length === 0).length,
    );
  });

  it('opens an example of the gallery, or the policy alone', () => {
    for (const { path, text } of all) {
      const found = text.matchAll(/```\n\n<p class="open-in-playground"><a href="([^"#]*)#(\w+)=([^"]*)"/g);
      for (const { index, 1: file = '', 2: kind, 3: value = '' } of found) {
        const policy = text.slice(text.lastIndexOf('```yaml\n', index) + '```yaml\n'.length, index);
        expect(posix.join(posix.dirname(path), file)).toBe('playground/index.html');
        const opened =
          kind === 'state' ? decodeWorkspace(value) : examples.find(({ id }) => id === value)?.workspace;
        expect(nameIn(opened?.policies[0]?.text)).toBe(nameIn(policy));
      }
    }
  });
});

function nameIn(policy: string | undefined): string | undefined {
  return /^ {2}name: .*$/m.exec(policy ?? '')?.[0];
}
