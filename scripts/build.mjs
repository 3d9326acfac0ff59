// Bundles the command line and the library into dist/. `--types` starts afresh and also writes the declaration files.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, isMain, markBuilt, root, run } from './setup.mjs';

const entryPoints = {
  index: 'src/index.ts',
  'cli/main': 'src/cli/main.ts',
  'cli/test-worker': 'src/cli/test/worker.ts',
  'admission/review': 'src/admission/review.ts',
};

export async function bundle() {
  const startedAt = new Date();
  await bundleForNode({ entryPoints, sourcemap: true, sourcesContent: false });
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    entryPoints: { 'browser/index': 'src/index.ts' },
    outdir: 'dist',
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  });
  markBuilt(startedAt, 'all');
}

/**
 * The command line alone, for those who wait: a fifth of the work of everything. Packages are read where they are
 * installed, which costs each start a tenth of a second, and saves this one half a second.
 */
export async function bundleCommandLine() {
  const startedAt = new Date();
  const { 'cli/main': main, 'cli/test-worker': testWorker } = entryPoints;
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  // The Kubernetes client takes two seconds to load from its thousand files.
  const external = Object.keys(dependencies).filter((name) => name !== '@kubernetes/client-node');
  await bundleForNode({ entryPoints: { 'cli/main': main, 'cli/test-worker': testWorker }, external });
  markBuilt(startedAt, 'command line');
}

async function bundleForNode(options) {
  const { build } = await import('esbuild');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const result = await build({
    absWorkingDir: root,
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    chunkNames: 'chunks/[name]-[hash]',
    minifySyntax: true,
    metafile: true,
    define: { 'process.env.KYMERA_VERSION': JSON.stringify(version) },
    // Bundled CommonJS packages ask for node's own modules with `require`.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
    ...options,
  });
  removeOldChunks(result.metafile);
}

/** Chunk names carry a hash: those of earlier builds would pile up. */
function removeOldChunks({ outputs }) {
  const folder = join(root, 'dist', 'chunks');
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (!(`dist/chunks/${name}` in outputs)) rmSync(join(folder, name));
  }
}

function writeTypes() {
  run('node', ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']);
}

if (isMain(import.meta.url)) {
  ensureInstalled();
  const isFullBuild = process.argv.includes('--types');
  if (isFullBuild) rmSync(join(root, 'dist'), { recursive: true, force: true });
  await bundle();
  if (isFullBuild) writeTypes();
}
