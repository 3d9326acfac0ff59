import { Agent } from 'node:https';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeUnless, unlessBuilt } from '../needs.testing.ts';
import {
  type Answer,
  labelPolicy,
  pod,
  responseIn,
  reviewOf,
  send,
} from '../server/running-server.testing.ts';
import { type ServeProcess, startServeProcess } from '../server/serve-process.testing.ts';
import { type Bomb, bombs, objectOf, policyOf } from './bombs.testing.ts';

const isLinux = process.platform === 'linux';
const agent = new Agent({ keepAlive: true, maxSockets: 32 });

describeUnless(isLinux ? unlessBuilt('dist/cli/main.js') : 'needs Linux')(
  'a server with a heap of 256 MB',
  () => {
    let server: ServeProcess;

    beforeAll(async () => {
      const documents = bombs.map((bomb, index) => JSON.stringify(policyOf(bomb, index)));
      server = await startServeProcess(
        [labelPolicy('bystander', 'a: "1"'), ...documents].join('\n---\n'),
        256,
      );
    }, 120_000);

    afterAll(() => {
      agent.destroy();
      server.child.kill('SIGKILL');
    });

    function review(object: ReturnType<typeof objectOf>): Promise<Answer> {
      const body = Buffer.from(JSON.stringify(reviewOf(object)));
      return send(`${server.url}/mutate`, { ca: server.ca, agent, method: 'POST', body });
    }

    function detonate(bomb: Bomb, index: number): Promise<Answer> {
      return review(objectOf(bomb, index));
    }

    /** The time that the server works until it answers. Elapsed time also depends on other processes. */
    async function askBystander(): Promise<number> {
      const startedAt = server.cpuMilliseconds();
      const response = responseIn(await review(pod));
      expect(response.allowed).toBe(true);
      return server.cpuMilliseconds() - startedAt;
    }

    it('answers each of them as a failure', { timeout: 300_000 }, async () => {
      for (const [index, bomb] of bombs.entries()) {
        const { status, text } = await detonate(bomb, index);
        expect(status, bomb.name).toBe(200);
        const { allowed, status: reason } = JSON.parse(text).response;
        expect(allowed, bomb.name).toBe(false);
        expect(reason.message, bomb.name).toContain(`bomb-${index}`);
      }
    });

    it('answers a bystander within a second while eight of them run', { timeout: 300_000 }, async () => {
      const waits: number[] = [];
      for (let start = 0; start < bombs.length; start += 8) {
        const group = bombs.slice(start, start + 8).map((bomb, offset) => detonate(bomb, start + offset));
        waits.push(await askBystander());
        await Promise.all(group);
      }
      expect(Math.max(...waits)).toBeLessThan(1_000);
      expect(server.child.exitCode).toBeNull();
    });
  },
);
