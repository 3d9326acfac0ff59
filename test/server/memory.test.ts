import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { describeUnless, unlessBuilt } from '../needs.testing.ts';
import { labelPolicy, patchIn, pod, reviewOf, send } from './running-server.testing.ts';

const root = new URL('../../', import.meta.url).pathname;
const cleanups: (() => void)[] = [];

afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function serve(): Promise<{
  readonly pid: number;
  readonly url: string;
  readonly port: number;
  readonly ca: string;
  readonly caFile: string;
}> {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-memory-'));
  writeFileSync(join(folder, 'policy.yaml'), labelPolicy('one', 'a: "1"'));
  const child = spawn(
    process.execPath,
    [
      // What Node chooses in a container with 512 MB.
      '--max-old-space-size=259',
      join(root, 'bin/kymera'),
      ...[
        'serve',
        '--policies',
        'policy.yaml',
        '--state-dir',
        'state',
        '--port',
        '0',
        '--log-level',
        'error',
      ],
    ],
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  cleanups.push(() => child.kill('SIGKILL'));
  const port = await new Promise<number>((resolve) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const [, found] = /https:\/\/127\.0\.0\.1:(\d+)\/mutate/.exec(output) ?? [];
      if (found !== undefined) resolve(Number(found));
    });
  });
  const caFile = join(folder, 'state', 'ca.crt');
  const ca = readFileSync(caFile, 'utf8');
  return { pid: child.pid ?? 0, url: `https://127.0.0.1:${port}`, port, ca, caFile };
}

/** The largest resident size so far. */
function peakMegabytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

const isLinux = process.platform === 'linux';

describeUnless(isLinux ? unlessBuilt('dist/cli/main.js') : 'needs Linux')('under a flood of bodies', () => {
  it('the process stays below 512 MB and answers a bystander within a second', {
    timeout: 120_000,
    retry: 2,
  }, async () => {
    const { pid, url, port, ca, caFile } = await serve();
    const flood = spawn(
      process.execPath,
      [join(import.meta.dirname, 'flood.testing.mjs'), String(port), caFile],
      {
        stdio: 'inherit',
      },
    );
    cleanups.push(() => flood.kill('SIGKILL'));
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const body = Buffer.from(JSON.stringify(reviewOf(pod)));
    const agent = new Agent({ keepAlive: true });
    cleanups.push(() => agent.destroy());
    const latencies: number[] = [];
    const endsAt = performance.now() + 15_000;
    while (performance.now() < endsAt) {
      const startedAt = performance.now();
      const answer = await send(`${url}/mutate`, { ca, method: 'POST', body, agent });
      latencies.push(performance.now() - startedAt);
      expect(patchIn(answer)).toEqual([{ op: 'add', path: '/metadata/labels', value: { a: '1' } }]);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    latencies.sort((left, right) => left - right);
    expect(peakMegabytes(pid)).toBeLessThan(512);
    // The median: other processes of the machine delay single answers.
    expect(latencies[Math.floor(latencies.length / 2)]).toBeLessThan(1_000);
  });
});
