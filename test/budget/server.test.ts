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
    });

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

    /**
     * The server works less than a second until it answers. Elapsed time also depends on other processes: on a busy machine, a
     * review may wait so long that it is shed, and is sent again as by an API server.
     */
    async function askBystander(): Promise<void> {
      for (;;) {
        const startedAt = server.cpuMilliseconds();
        const answer = await review(pod);
        expect(server.cpuMilliseconds() - startedAt).toBeLessThan(1_000);
        if (answer.status === 200) return expect(responseIn(answer).allowed).toBe(true);
        expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
      }
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
      for (let start = 0; start < bombs.length; start += 8) {
        const group = bombs.slice(start, start + 8).map((bomb, offset) => detonate(bomb, start + offset));
        await askBystander();
        await Promise.all(group);
      }
      expect(server.child.exitCode).toBeNull();
    });
  },
);
