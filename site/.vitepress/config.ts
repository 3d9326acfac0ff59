import { readFileSync } from 'node:fs';
import { defineConfig, type MarkdownRenderer } from 'vitepress';
import { headingAnchor } from '../../src/cli/about/heading-anchor.ts';

/** Written by scripts/build-site.mjs. */
const { staged, sidebar, base, outDir, version } = JSON.parse(
  readFileSync(process.env.KYMERA_SITE ?? '', 'utf8'),
);

export default defineConfig({
  title: 'Kymera',
  description:
    'Kyverno-compatible mutation for Kubernetes: one engine for admission, the command line and kustomize',
  lang: 'en',
  base,
  head: [['link', { rel: 'icon', href: `${base}playground/icon.svg` }]],
  srcDir: staged,
  outDir,
  cacheDir: '.cache/vite',
  // The build adds both; scripts/build-site.mjs copies only files that exist.
  ignoreDeadLinks: [/^[./]*playground\//, /^[./]*files\//],
  markdown: { anchor: { slugify: headingAnchor }, config: escapeBraces },
  vite: { logLevel: 'warn', publicDir: false },
  themeConfig: {
    nav: [
      { text: 'Docs', link: '/overview' },
      { text: 'Playground', link: '/playground/index.html', target: '_self' },
      { text: version, link: '/changelog' },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
  },
});

/** Vue would evaluate `{{ request.object }}` in prose and in inline code. */
function escapeBraces({ renderer }: MarkdownRenderer): void {
  for (const name of ['text', 'code_inline'] as const) {
    const render = renderer.rules[name];
    renderer.rules[name] = (...args) => (render?.(...args) ?? '').replaceAll('{', '&#123;');
  }
}
