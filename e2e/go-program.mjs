// Builds Go programs that tests need, once, into a cache outside the repository.
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** `~/.cache/kymera/…`, or under XDG_CACHE_HOME. */
export function cachePath(...parts) {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'kymera', ...parts);
}

export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Builds a package of the module in `folder` to `path`.
 *
 * @returns {Promise<{ path: string } | { problem: string }>}
 */
export async function buildGoProgram({ name, folder, packagePath, path, linkerFlags, progress }) {
  if (spawnSync('go', ['version'], { cwd: folder }).status !== 0) {
    return { problem: `${name} is not in ${dirname(path)}, and there is no Go to build it` };
  }
  mkdirSync(dirname(path), { recursive: true });
  // Renamed when complete, because suites may build concurrently and a build may be interrupted.
  const partial = `${path}.${process.pid}`;
  const { status, lastLine, interruption } = await runGo(
    ['build', '-v', '-mod=readonly', '-trimpath', '-ldflags', linkerFlags, '-o', partial, packagePath],
    folder,
    (compiled, seconds) => progress(`building ${name}: ${compiled} packages compiled, ${seconds} s`),
  );
  if (status !== 0) {
    rmSync(partial, { force: true });
    if (interruption !== undefined) process.exit(130);
    return { problem: `${name} cannot be built: go build ended with ${status}: ${lastLine}` };
  }
  renameSync(partial, path);
  return { path };
}

function runGo(args, folder, progress) {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const seconds = () => Math.round((performance.now() - startedAt) / 1000);
    const child = spawn('go', args, {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, CGO_ENABLED: '0' },
    });
    let compiled = 0;
    let lastLine = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      const lines = text.split('\n').filter(Boolean);
      compiled += lines.length;
      lastLine = lines.at(-1) ?? lastLine;
    });
    progress(0, 0);
    const timer = setInterval(() => progress(compiled, seconds()), 15_000);
    let interruption;
    const interrupt = (signal) => {
      interruption = signal;
      child.kill(signal);
    };
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, interrupt);
    const end = (status, reason) => {
      clearInterval(timer);
      for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, interrupt);
      progress(compiled, seconds());
      resolve({ status, lastLine: reason ?? lastLine, interruption });
    };
    child.on('error', (error) => end(-1, error.message));
    child.on('close', (status) => end(status));
  });
}
