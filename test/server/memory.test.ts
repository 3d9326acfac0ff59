import { spawn } from 'node:child_process';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { describeUnless, unlessBuilt } from '../needs.testing.ts';
import { labelPolicy, patchIn, pod, reviewOf, send } from './running-server.testing.ts';
import { startServeProcess } from './serve-process.testing.ts';

const cleanups: (() => void)[] = [];

afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** What Node chooses in a container with 512 MB. */
const heapMegabytes = 259;
const isLinux = process.platform === 'linux';

describeUnless(isLinux ? unlessBuilt('dist/cli/main.js') : 'needs Linux')('under a flood of bodies', () => {
  it('the process stays below 512 MB and answers a bystander within a second', {
    timeout: 240_000,
  }, async () => {
    const server = await startServeProcess(labelPolicy('one', 'a: "1"'), heapMegabytes);
    const { url, port, ca, caFile } = server;
    cleanups.push(() => server.child.kill('SIGKILL'));
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
    expect(Math.max(...waits)).toBeLessThan(1_000);
  });
});
