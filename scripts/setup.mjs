// Brings a checkout to the point where commands can run: dependencies as in the lock file, bundles newer than the sources.
// No dependencies: it runs before there are any.
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
/** One for each extent of a build, the larger first. */
const stamps = {
  all: join(root, 'dist', '.built'),
  'command line': join(root, 'dist', '.built-command-line'),
};
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

/** To be called before the build reads its inputs, so that an edit made meanwhile counts as newer. */
export function markBuilt(startedAt, extent) {
  mkdirSync(join(root, 'dist'), { recursive: true });
  // What the other stamp spoke of may have been overwritten.
  for (const stamp of Object.values(stamps)) rmSync(stamp, { force: true });
  writeFileSync(stamps[extent], '');
  utimesSync(stamps[extent], startedAt, startedAt);
}

/** Runs a program with our own standard streams; ends this process with its exit code when it fails. */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (result.error) throw result.error;
  if (result.status !== 0) process.exit(result.status ?? 1);
}

export function isMain(moduleUrl) {
  return process.argv[1] !== undefined && pathToFileURL(process.argv[1]).href === moduleUrl;
}

/** npm keeps a copy of what it installed; packages for other platforms are in the lock file only. */
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

function isStale(stamp) {
  if (!existsSync(stamp)) return true;
  const builtAt = statSync(stamp).mtimeMs;
  return buildInputs.some((input) => newestChange(join(root, input)) > builtAt);
}

/** Folders count as well: removing a file changes its folder only. */
function newestChange(path) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newestChange(join(path, name))));
}

if (isMain(import.meta.url)) ensureInstalled();
