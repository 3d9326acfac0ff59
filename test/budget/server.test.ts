import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { type Bomb, bombs, objectOf, policyOf } from './bombs.testing.ts';

const root = new URL('../../', import.meta.url).pathname;
const agent = new Agent({ keepAlive: true, maxSockets: 32 });

describeUnless(unlessBuilt('dist/cli/main.js'))('a server with a heap of 256 MB', () => {
  let child: ReturnType<typeof spawn>;
  let url = '';
  let ca = '';

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-bombs-'));
    const documents = bombs.map((bomb, index) => JSON.stringify(policyOf(bomb, index)));
    writeFileSync(
      join(folder, 'policy.yaml'),
      [labelPolicy('bystander', 'a: "1"'), ...documents].join('\n---\n'),
    );
    child = spawn(
      process.execPath,
      [
        '--max-old-space-size=256',
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
    const port = await new Promise<number>((resolve) => {
      let output = '';
      child.stdout?.on('data', (chunk) => {
        output += chunk;
        const [, found] = /https:\/\/127\.0\.0\.1:(\d+)\/mutate/.exec(output) ?? [];
        if (found !== undefined) resolve(Number(found));
      });
    });
    url = `https://127.0.0.1:${port}/mutate`;
    ca = readFileSync(join(folder, 'state', 'ca.crt'), 'utf8');
  }, 60_000);

  afterAll(() => {
    agent.destroy();
    child.kill('SIGKILL');
  });

  function review(object: ReturnType<typeof objectOf>): Promise<Answer> {
    const body = Buffer.from(JSON.stringify(reviewOf(object)));
    return send(url, { ca, agent, method: 'POST', body });
  }

  function detonate(bomb: Bomb, index: number): Promise<Answer> {
    return review(objectOf(bomb, index));
  }

  async function askBystander(): Promise<number> {
    const startedAt = performance.now();
    const response = responseIn(await review(pod));
    expect(response.allowed).toBe(true);
    return performance.now() - startedAt;
  }

  it('answers each of them as a failure', { timeout: 120_000 }, async () => {
    for (const [index, bomb] of bombs.entries()) {
      const { status, text } = await detonate(bomb, index);
      expect(status, bomb.name).toBe(200);
      const { allowed, status: reason } = JSON.parse(text).response;
      expect(allowed, bomb.name).toBe(false);
      expect(reason.message, bomb.name).toContain(`bomb-${index}`);
    }
  });

  it('answers a bystander within a second while eight of them run', { timeout: 120_000 }, async () => {
    const waits: number[] = [];
    for (let start = 0; start < bombs.length; start += 8) {
      const group = bombs.slice(start, start + 8).map((bomb, offset) => detonate(bomb, start + offset));
      waits.push(await askBystander());
      await Promise.all(group);
    }
    expect(Math.max(...waits)).toBeLessThan(1_000);
    expect(child.exitCode).toBeNull();
  });
});
