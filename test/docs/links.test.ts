import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { headingAnchor } from '../../src/cli/about/heading-anchor.ts';
import { markdownPages, type Page, proseOf, root } from './pages.testing.ts';

const pages = markdownPages();

describe('links', () => {
  it.each(pages.map((page) => [page.path, page] as const))('%s has no broken links', (_, page) => {
    expect(linksOf(page).flatMap((link) => problemOf(page, link))).toEqual([]);
  });

  it('every page under docs/ can be reached from docs/README.md', () => {
    const reached = new Set<string>();
    const visit = (path: string): void => {
      if (reached.has(path)) return;
      reached.add(path);
      const page = pages.find((candidate) => candidate.path === path);
      for (const link of page === undefined ? [] : linksOf(page)) {
        const [file = ''] = link.split('#');
        if (file.endsWith('.md')) visit(relative(root, join(root, dirname(path), file)));
      }
    };
    visit('docs/README.md');
    const unreachable = pages
      .map(({ path }) => path)
      .filter((path) => path.startsWith('docs/') && !reached.has(path));
    expect(unreachable).toEqual([]);
  });

  it('docs/adr/README.md lists every decision with its title', () => {
    const decisions = pages.filter(({ path }) => /^docs\/adr\/\d+-/.test(path));
    const list = decisions.map(({ path, text }) => {
      const [, number, title] = /^# (\d+)\. (.*)$/m.exec(text) ?? [];
      return `${number}. [${title}](${basename(path)})`;
    });
    const index = pages.find(({ path }) => path === 'docs/adr/README.md')?.text ?? '';
    expect(index.match(/^\d+\..*$/gm)).toEqual(
      list.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
    );
  });
});

function linksOf(page: Page): readonly string[] {
  const links = [...proseOf(page).matchAll(/\]\(([^()\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => !/^[a-z]+:/.test(link));
}

function problemOf(page: Page, link: string): readonly string[] {
  const [file = '', anchor] = link.split('#');
  const path = file === '' ? join(root, page.path) : join(root, dirname(page.path), decodeURI(file));
  if (!existsSync(path)) return [`${link}: the file does not exist`];
  if (anchor === undefined || statSync(path).isDirectory()) return [];
  const target = { path: relative(root, path), text: readFileSync(path, 'utf8') };
  return anchorsOf(target).has(anchor) ? [] : [`${link}: the heading does not exist`];
}

/** Repeated headings get a number. */
function anchorsOf(page: Page): ReadonlySet<string> {
  const anchors = new Set<string>();
  const headings = page.text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/^#+ +(.*)$/gm);
  for (const [, heading = ''] of headings) {
    const base = headingAnchor(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
    let name = base;
    for (let count = 1; anchors.has(name); count++) name = `${base}-${count}`;
    anchors.add(name);
  }
  return anchors;
}
