// `npm run build:site`: the documentation and the playground as one static site in site/dist.
//   --base PATH     the path under which the site is served (default /)
//   --out FOLDER    where to write it
// It exits with 3 if the packages of site/ cannot be installed.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { buildWeb } from './build-web.mjs';
import { ensureInstalled, isWebBuilt, root, run } from './setup.mjs';

const { values } = parseArgs({
  options: { base: { type: 'string', default: '/' }, out: { type: 'string', default: 'site/dist' } },
});
const site = join(root, 'site');
// Inside the package, because pages import packages from its node_modules.
const work = join(site, '.cache');
const outDir = resolve(root, values.out);

ensureInstalled();
ensureSiteInstalled();
if (!isWebBuilt()) await buildWeb();
const { stageSite, sidebarOf, collectExamples } = await importStage();
const { pages, files } = stageSite(root, collectExamples(root));
const staged = join(work, 'pages');
rmSync(staged, { recursive: true, force: true });
for (const [path, text] of pages) write(join(staged, path), text);
copyFiles(staged);
const settings = join(work, 'settings.json');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
write(settings, JSON.stringify({ staged, sidebar: sidebarOf(root), base: values.base, outDir, version }));
run('node', ['node_modules/vitepress/bin/vitepress.js', 'build', '.'], {
  cwd: site,
  env: { ...process.env, KYMERA_SITE: settings },
});
copyFiles(outDir);
cpSync(join(root, 'dist/web'), join(outDir, 'playground'), { recursive: true });
console.log(`wrote ${pages.size} pages and the playground to ${values.out}`);

function ensureSiteInstalled() {
  const installed = join(site, 'node_modules/.package-lock.json');
  const lock = join(site, 'package-lock.json');
  if (existsSync(installed) && sameVersions(installed, lock)) return;
  const { status, stderr } = spawnSync(
    'npm',
    ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: site,
      encoding: 'utf8',
    },
  );
  if (status === 0) return;
  console.error(`the packages of site/ cannot be installed: ${stderr.split('\n')[0]}`);
  process.exit(3);
}

function sameVersions(installed, lock) {
  const [have, want] = [installed, lock].map((file) => JSON.parse(readFileSync(file, 'utf8')).packages);
  return have['node_modules/vitepress']?.version === want['node_modules/vitepress']?.version;
}

function copyFiles(folder) {
  for (const [path, file] of files) cpSync(file, join(folder, path));
}

async function importStage() {
  const { build } = await import('esbuild');
  const outfile = join(work, 'stage.mjs');
  await build({
    absWorkingDir: root,
    stdin: {
      contents: `export * from './site/stage.ts'; export { collectExamples } from './web/gallery/collect.ts';`,
      resolveDir: root,
    },
    outfile,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
  return import(pathToFileURL(outfile).href);
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
