import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly logFile: string;
}

/** Ports that are free now. All are kept open until the last is found, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
          const server = createServer();
          server.once('error', reject).listen(0, '127.0.0.1', () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
    return address.port;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Starts a program that outlives the worker that started it; returns its process id. The watchdog knows it by its arguments. */
export function launch(program: Program): number {
  const log = openSync(program.logFile, 'a');
  const child = spawn(program.command, program.args, { stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  child.unref();
  if (child.pid === undefined) throw new Error(`${program.command} does not start`);
  return child.pid;
}

export async function terminate(pid: number, patienceMs = 10_000): Promise<void> {
  if (!signal(pid, 'SIGTERM')) return;
  const deadline = Date.now() + patienceMs;
  while (isRunning(pid) && Date.now() < deadline) await sleep(50);
  signal(pid, 'SIGKILL');
}

export function isRunning(pid: number): boolean {
  if (!signal(pid, 0)) return false;
  try {
    // A zombie process is not running.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return signal(pid, 0);
  }
}

export function lastLines(file: string, count = 20): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
