// Installs the dependencies of the lock file and builds the bundles if they are missing or out of date.
// This file imports no packages, because it runs before they are installed.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
/** One stamp file per kind of build. */
const stamps = {
  all: join(root, 'dist', '.built'),
  'command line': join(root, 'dist', '.built-command-line'),
};
const webStamp = join(root, 'dist', '.built-web');
const webInputs = [
  'web',
  'src',
  'policies',
  'docs',
  'README.md',
  'schemas',
  'package-lock.json',
  'scripts/build-web.mjs',
];
const buildInputs = ['src', 'package-lock.json', 'package.json', 'scripts/build.mjs', 'tsconfig.json'];

export function ensureInstalled() {
  if (installMatchesLock()) return;
  console.error('Installing dependencies from the lock file …');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}

export async function ensureBuilt() {
  ensureInstalled();
  if (!isStale(stamps.all)) return;
  const { bundle } = await import('./build.mjs');
  await bundle();
}

export async function ensureCommandLineBuilt() {
  ensureInstalled();
  if (!isStale(stamps.all) || !isStale(stamps['command line'])) return;
  const { bundleCommandLine } = await import('./build.mjs');
  await bundleCommandLine();
}

/** Builds the playground if it is missing or out of date. */
export async function ensureWebBuilt() {
  ensureInstalled();
  if (isWebBuilt()) return;
  const { buildWeb } = await import('./build-web.mjs');
  await buildWeb();
}

export function isWebBuilt() {
  return !isStale(webStamp, webInputs);
}

export function markWebBuilt(startedAt) {
  writeFileSync(webStamp, '');
  utimesSync(webStamp, startedAt, startedAt);
}

/** `startedAt` is the time before the build read its inputs, so that edits during the build count as newer. */
export function markBuilt(startedAt, extent) {
  mkdirSync(join(root, 'dist'), { recursive: true });
  // This build may have overwritten the output of the other kind.
  for (const stamp of Object.values(stamps)) rmSync(stamp, { force: true });
  writeFileSync(stamps[extent], '');
  utimesSync(stamps[extent], startedAt, startedAt);
}

/** Runs a program with our standard streams. If it fails, this process exits with its exit code. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (result.error) throw result.error;
  if (result.status !== 0) process.exit(result.status ?? 1);
}

export function isMain(moduleUrl) {
  return process.argv[1] !== undefined && pathToFileURL(process.argv[1]).href === moduleUrl;
}

/** Compares the lock file with npm's list of installed packages, which lacks packages for other platforms. */
function installMatchesLock() {
  const installedFile = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const wanted = readPackages(join(root, 'package-lock.json'));
  const installed = readPackages(installedFile);
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue;
    const found = installed[path];
    if (found === undefined ? entry.optional !== true : found.version !== entry.version) return false;
  }
  return true;
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

function isStale(stamp, inputs = buildInputs) {
  if (!existsSync(stamp)) return true;
  const builtAt = statSync(stamp).mtimeMs;
  return inputs.some((input) => newestChange(join(root, input)) > builtAt);
}

/** Includes folders, because removing a file changes only its folder. */
function newestChange(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newestChange(join(path, name))));
}

if (isMain(import.meta.url)) ensureInstalled();
