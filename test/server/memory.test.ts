import { spawn } from 'node:child_process';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { describeUnless, unlessBuilt } from '../needs.testing.ts';
import { labelPolicy, patchIn, pod, reviewOf, send } from './running-server.testing.ts';
import { type ServeProcess, startServeProcess } from './serve-process.testing.ts';

const cleanups: (() => void)[] = [];

afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** What Node chooses in a container with 512 MB. */
const heapMegabytes = 259;
const isLinux = process.platform === 'linux';

describeUnless(isLinux ? unlessBuilt('dist/cli/main.js') : 'needs Linux')('under a flood of bodies', () => {
  it('the process stays below 512 MB and answers a bystander within a second, or as long as twelve of the largest bodies take', {
    timeout: 240_000,
  }, async () => {
    const server = await startServeProcess(labelPolicy('one', 'a: "1"'), heapMegabytes);
    const { url, port, ca, caFile } = server;
    cleanups.push(() => server.child.kill('SIGKILL'));
    const longestWait = Math.max(1_000, 12 * (await costOfLargest(server)));
    const flood = spawn(
      process.execPath,
      [join(import.meta.dirname, 'flood.testing.mjs'), String(port), caFile],
      { stdio: 'inherit' },
    );
    cleanups.push(() => flood.kill('SIGKILL'));
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const body = Buffer.from(JSON.stringify(reviewOf(pod)));
    const agent = new Agent({ keepAlive: true });
    cleanups.push(() => agent.destroy());
    const waits: number[] = [];
    const endsAt = performance.now() + 15_000;
    while (performance.now() < endsAt || waits.length < 10) {
      const startedAt = server.cpuMilliseconds();
      const answer = await send(`${url}/mutate`, { ca, method: 'POST', body, agent });
      waits.push(server.cpuMilliseconds() - startedAt);
      expect(patchIn(answer)).toEqual([{ op: 'add', path: '/metadata/labels', value: { a: '1' } }]);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(server.peakMegabytes()).toBeLessThan(512);
    // The slowest answer: as long as the server works, its CPU time is the time that a bystander waits for it.
    expect(Math.max(...waits)).toBeLessThan(longestWait);
  });
});

/** CPU milliseconds of a body with as many values as are accepted, one of those in the flood. On a slow machine it takes longer. */
async function costOfLargest({ url, ca, cpuMilliseconds }: ServeProcess): Promise<number> {
  const body = Buffer.from(`[${'[],'.repeat(320_000)}1]`.padEnd(8 * 1024 * 1024));
  const costs: number[] = [];
  for (let count = 0; count < 3; count += 1) {
    const before = cpuMilliseconds();
    await send(`${url}/mutate`, { ca, method: 'POST', body });
    costs.push(cpuMilliseconds() - before);
  }
  return Math.min(...costs);
}
