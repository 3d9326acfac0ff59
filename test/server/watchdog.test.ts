import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { patchIn, pod, responseIn, reviewOf, send } from './running-server.testing.ts';

const root = new URL('../../', import.meta.url).pathname;
const program = join(root, '.cache', 'test', 'stuck-server.mjs');
const children: ChildProcess[] = [];

beforeAll(async () => {
  mkdirSync(join(program, '..'), { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: ['test/server/stuck-server.testing.ts'],
    outfile: program,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
  });
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function start(folder: string) {
  const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const { port, ca } = await new Promise<{ port: number; ca: string }>((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(JSON.parse(String(chunk))));
    child.once('exit', () => reject(new Error(log)));
  });
  const post = (name: string, namespace: string) =>
    send(`https://127.0.0.1:${port}/mutate?timeout=1s`, {
      ca,
      method: 'POST',
      body: Buffer.from(JSON.stringify(reviewOf({ ...pod, metadata: { name, namespace } }))),
    });
  const get = (path: string) => send(`https://127.0.0.1:${port}${path}`, { ca, method: 'GET' });
  const ended = new Promise<string>((resolve) =>
    child.once('exit', (_code, signal) => resolve(String(signal))),
  );
  return { post, get, ended, log: () => log };
}

const labels = (value: object) => [{ op: 'add', path: '/metadata/labels', value }];

describe('a rule that blocks the event loop', () => {
  it('ends the process; after the second time it fails for objects of that namespace only', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kymera-watchdog-'));
    for (let count = 0; count < 2; count += 1) {
      const server = await start(folder);
      expect(patchIn(await server.post('fine', 'shop'))).toEqual(labels({ endless: '1', good: '1' }));
      await expect(server.post('stuck', 'shop')).rejects.toThrow();
      expect(await server.ended).toBe('SIGKILL');
      const [line = ''] = server
        .log()
        .split('\n')
        .filter((entry) => entry.includes('event loop is blocked'));
      expect(JSON.parse(line)).toMatchObject({ policy: 'endless', rule: 'rule', namespace: 'shop' });
    }
    const server = await start(folder);
    for (const name of ['stuck', 'fine']) {
      const answer = await server.post(name, 'shop');
      expect(patchIn(answer)).toEqual(labels({ good: '1' }));
      expect(responseIn(answer).warnings?.[0]).toMatch(/policy endless\.rule: .*\[KYM_RULE_STUCK\]/);
    }
    expect(patchIn(await server.post('fine', 'other'))).toEqual(labels({ endless: '1', good: '1' }));
    expect((await server.get('/readyz?verbose')).text).toContain('[-] policy endless, rule rule');
    expect(server.log()).toContain('it has blocked the server twice');
  });
});
