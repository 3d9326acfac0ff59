import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { run } from '../../src/cli/program.ts';
import { describeUnless, unlessBuilt } from '../needs.testing.ts';

interface Running {
  readonly address: URL;
  readonly token: string;
  readonly folder: string;
  stop(): Promise<number>;
}

const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n';
const policy = 'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec: {rules: []}\n';

/** Starts the command and waits for its address. */
async function start(...options: string[]): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'kymera-playground-'));
  writeFileSync(join(folder, 'policy.yaml'), policy);
  writeFileSync(join(folder, 'pod.yaml'), pod);
  const abort = new AbortController();
  let finished: Promise<number> = Promise.resolve(0);
  const address = await new Promise<string>((resolve) => {
    const output = { isTTY: false, write: (text: string | Uint8Array) => resolve(String(text)) };
    finished = run(['playground', 'policy.yaml', '-r', 'pod.yaml', ...options], {
      stdin: (async function* () {})(),
      stdout: output,
      stderr: output,
      cwd: folder,
      env: {},
      signal: abort.signal,
    });
  });
  const url = new URL(/http:\S+/.exec(address)?.[0] ?? address);
  return {
    address: url,
    token: url.hash.replace('#session=', ''),
    folder,
    stop: () => {
      abort.abort();
      return finished;
    },
  };
}

describeUnless(unlessBuilt('dist/web/index.html'))('kymera playground', { timeout: 60_000 }, () => {
  let running: Running;
  beforeEach(async () => {
    running = await start('--write');
  });
  afterEach(async () => {
    expect(await running.stop()).toBe(0);
  });

  const call = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(new URL(path, running.address), {
      ...init,
      headers: { authorization: `Bearer ${running.token}`, 'content-type': 'application/json', ...headers },
    });
  const save = (edit: object) => call('/session/file', {}, { method: 'PUT', body: JSON.stringify(edit) });
  const edit = { role: 'resources', name: 'pod.yaml', before: pod, text: `${pod}# edited\n` };

  it('listens on loopback and serves the page', async () => {
    expect(running.address.hostname).toBe('127.0.0.1');
    const response = await fetch(running.address);
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(await response.text()).toContain('<title>Kymera playground</title>');
  });

  it('gives the files only to the holder of the token', async () => {
    expect((await call('/session', { authorization: '' })).status).toBe(401);
    expect((await call('/session', { authorization: 'Bearer wrong' })).status).toBe(401);
    expect(await (await call('/session')).json()).toMatchObject({
      policies: [{ name: 'policy.yaml', text: policy }],
      resources: [{ name: 'pod.yaml', text: pod }],
      writable: true,
    });
  });

  it('refuses pages of other origins and other host names', async () => {
    expect((await call('/session', { origin: 'https://evil.example' })).status).toBe(403);
    const status = await new Promise((resolve) => {
      const { port } = running.address;
      request(
        { host: '127.0.0.1', port, path: '/', headers: { host: `evil.example:${port}` } },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      ).end();
    });
    expect(status).toBe(403);
  });

  it('reports changes on disk', async () => {
    const waiting = call('/session/changes?since=1');
    writeFileSync(join(running.folder, 'pod.yaml'), `${pod}# changed\n`);
    expect(await (await waiting).json()).toMatchObject({
      version: 2,
      resources: [{ name: 'pod.yaml', text: `${pod}# changed\n` }],
    });
  });

  it('saves edits, but only to its files and not over a newer version', async () => {
    expect((await save(edit)).status).toBe(200);
    expect(readFileSync(join(running.folder, 'pod.yaml'), 'utf8')).toBe(edit.text);
    const stale = await save(edit);
    expect([stale.status, await stale.json()]).toEqual([
      409,
      { error: 'pod.yaml was changed on disk: it is not overwritten' },
    ]);
    for (const name of ['other.yaml', '../pod.yaml', join(running.folder, 'pod.yaml')]) {
      expect((await save({ ...edit, name })).status, name).toBe(404);
    }
    expect((await save({ name: 'pod.yaml' })).status).toBe(400);
  });

  it('does not save without --write', async () => {
    await running.stop();
    running = await start();
    expect((await save(edit)).status).toBe(403);
    expect(readFileSync(join(running.folder, 'pod.yaml'), 'utf8')).toBe(pod);
  });
});
