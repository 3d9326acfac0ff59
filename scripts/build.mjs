// Bundles the command line and the library into dist/. `--types` empties dist/ first and also writes the declaration files and the playground.
// `--program` bundles only the command line, with its packages: this is what the image contains.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, isMain, markBuilt, root, run } from './setup.mjs';

const programEntryPoints = {
  'cli/main': 'src/cli/main.ts',
  'cli/test-worker': 'src/cli/test/worker.ts',
};
const entryPoints = {
  ...programEntryPoints,
  index: 'src/index.ts',
};

export async function bundle() {
  const startedAt = new Date();
  await bundleForNode({ entryPoints, sourcemap: true, sourcesContent: false });
  const { build, stop } = await import('esbuild');
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
  await stop();
  markBuilt(startedAt, 'all');
}

/**
 * Bundles only the command line and the library for Node, for `npm start`: a fifth of the work of a full build. Packages stay external, which
 * makes this build half a second faster and each start of the program a tenth of a second slower.
 */
export async function bundleCommandLine() {
  const startedAt = new Date();
  await bundleForStart();
  // The caller goes on for as long as the program runs; without this, so would esbuild's service process.
  await (await import('esbuild')).stop();
  markBuilt(startedAt, 'command line');
}

export async function bundleForStart(options = {}) {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  // The Kubernetes client takes two seconds to load from its thousand files.
  const external = Object.keys({ ...dependencies, ...devDependencies }).filter(
    (name) => name !== '@kubernetes/client-node',
  );
  await bundleForNode({ entryPoints, external, ...options });
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
    // Bundled CommonJS packages load Node's built-in modules with `require`.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
    ...options,
  });
  if (options.outdir === undefined) removeOldChunks(result.metafile);
}

/** Chunk names contain a hash, so chunks of earlier builds would pile up. */
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
  if (process.argv.includes('--program')) {
    // The Dockerfile has installed the packages.
    await bundleForNode({ entryPoints: programEntryPoints, sourcemap: true, sourcesContent: false });
  } else {
    ensureInstalled();
    const withTypes = process.argv.includes('--types');
    if (withTypes) rmSync(join(root, 'dist'), { recursive: true, force: true });
    await bundle();
    if (withTypes) {
      writeTypes();
      await (await import('./build-web.mjs')).buildWeb();
    }
  }
}
