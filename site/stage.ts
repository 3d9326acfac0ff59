import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { isMap, parseAllDocuments } from 'yaml';
import { type ErrorCode, errorTable } from '../src/errors.ts';
import { emptyWorkspace } from '../web/engine/workspace.ts';
import type { Example } from '../web/gallery/example.ts';
import { encodeWorkspace } from '../web/state/share.ts';

/** What the site generator reads. */
export interface StagedSite {
  /** Markdown by path. */
  readonly pages: ReadonlyMap<string, string>;
  /** Files of the repository that pages link to, by their path on the site. */
  readonly files: ReadonlyMap<string, string>;
}

/** Pages outside docs/, by their path on the site. */
const otherPages: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'report-a-vulnerability.md',
  'policies/README.md': 'samples.md',
  'test/conformance/README.md': 'conformance-cases.md',
};

/** Turns the Markdown of the repository into pages of the site: links, "open in playground", a page per error code. */
export function stageSite(root: string, examples: readonly Example[]): StagedSite {
  const paths = sitePaths(root);
  const files = new Map<string, string>();
  const playground = playgroundLinks(examples);
  const pages = new Map<string, string>();
  for (const [source, target] of paths) {
    const text = readFileSync(join(root, source), 'utf8');
    const link = (href: string) => siteLink(href, { root, source, target, paths, files, examples });
    pages.set(
      target,
      withPlayground(withLinks(text, link), (policy) => upTo(target, playground(policy))),
    );
  }
  for (const [path, text] of errorPages()) pages.set(path, text);
  return { pages, files };
}

/** The sections of docs/README.md, for the sidebar. */
export function sidebarOf(
  root: string,
): readonly { text: string; items: { text: string; link: string }[] }[] {
  const paths = sitePaths(root);
  const text = readFileSync(join(root, 'docs/README.md'), 'utf8');
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.slice(0, section.indexOf('\n')),
      items: [...section.matchAll(/\[([^\]]+)\]\(([^)]+\.md)\)/g)].flatMap(([, title = '', href = '']) => {
        const target = paths.get(posix.join('docs', href));
        return target === undefined ? [] : [{ text: title, link: `/${target.replace(/\.md$/, '')}` }];
      }),
    }));
}

function sitePaths(root: string): ReadonlyMap<string, string> {
  const docs = markdownFiles(join(root, 'docs')).map((file) => relative(root, file));
  return new Map([
    ...Object.entries(otherPages),
    ...docs.map((path) => [path, path.slice('docs/'.length).replace(/README\.md$/, 'overview.md')] as const),
  ]);
}

function markdownFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return markdownFiles(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

/** Replaces the targets of links and images outside code. */
function withLinks(text: string, link: (href: string) => string): string {
  return text.replaceAll(
    /(^ *```[\s\S]*?^ *```$)|(`[^`\n]*`)|\]\(([^()\s]+)( "[^"\n]*")?\)/gm,
    (whole, block?: string, code?: string, href?: string, title = '') =>
      block !== undefined || code !== undefined || href === undefined ? whole : `](${link(href)}${title})`,
  );
}

interface LinkPlace {
  readonly root: string;
  readonly source: string;
  readonly target: string;
  readonly paths: ReadonlyMap<string, string>;
  readonly files: Map<string, string>;
  readonly examples: readonly Example[];
}

function siteLink(href: string, { root, source, target, paths, files, examples }: LinkPlace): string {
  if (/^[a-z]+:/.test(href) || href.startsWith('#')) return href;
  const [file = '', anchor] = href.split('#');
  const path = posix.join(posix.dirname(source), decodeURI(file));
  const page = paths.get(path);
  if (page !== undefined) return upTo(target, page) + (anchor === undefined ? '' : `#${anchor}`);
  const absolute = join(root, path);
  if (existsSync(absolute) && statSync(absolute).isDirectory()) {
    const id = path.replace(/^docs\//, '');
    if (examples.some((example) => example.id === id))
      return upTo(target, `playground/index.html#example=${id}`);
    throw new Error(`${source}: the link ${href} leads to a folder that is no example of the gallery`);
  }
  const copy = `files/${path}`;
  files.set(copy, absolute);
  return upTo(target, copy);
}

/** The path of one file of the site, seen from another. */
function upTo(from: string, to: string): string {
  const path = posix.relative(dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
}

/** Adds a link below each YAML block that is a policy. */
function withPlayground(text: string, address: (policy: string) => string): string {
  return text.replaceAll(/^```yaml\n([\s\S]*?)^```$/gm, (block, policy: string) =>
    /^kind: (?:\w+)?Policy$/m.test(policy)
      ? `${block}\n\n<p class="open-in-playground"><a href="${address(policy)}" target="_self">Open in playground</a></p>`
      : block,
  );
}

/** An example of the gallery has objects, too; other policies open alone. */
function playgroundLinks(examples: readonly Example[]): (policy: string) => string {
  const byContent = new Map(
    examples.flatMap(({ id, workspace }) =>
      workspace.policies.map(({ text }) => [contentOf(text), id] as const),
    ),
  );
  return (policy) => {
    const id = byContent.get(contentOf(policy));
    const fragment =
      id === undefined
        ? `state=${encodeWorkspace({ ...emptyWorkspace, policies: [{ name: 'policy.yaml', text: policy }] })}`
        : `example=${id}`;
    return `playground/index.html#${fragment}`;
  };
}

/** What a policy does: pages leave out the annotations that describe it. */
function contentOf(policy: string): string {
  const documents = parseAllDocuments(policy, { logLevel: 'silent' });
  for (const document of documents) {
    const annotations = document.getIn(['metadata', 'annotations']);
    if (!isMap(annotations)) continue;
    annotations.items = annotations.items.filter(
      ({ key }) => !String(key).startsWith('policies.kyverno.io/'),
    );
    if (annotations.items.length === 0) document.deleteIn(['metadata', 'annotations']);
  }
  return JSON.stringify(documents.map((document) => document.toJS() as unknown));
}

function errorPages(): readonly (readonly [string, string])[] {
  return (Object.keys(errorTable) as ErrorCode[]).map((code) => {
    const { cause, cure } = errorTable[code];
    return [
      `errors/${code}.md`,
      `# ${code}\n\n${cause}\n\n**Fix:** ${cure}\n\n[All error codes](../reference/errors.md)\n`,
    ];
  });
}
