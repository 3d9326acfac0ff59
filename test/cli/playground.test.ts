import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeUnless, unlessBuilt } from '../needs.testing.ts';
import { kymera } from './in-process.testing.ts';
import { type Running, startSession } from './playground.testing.ts';

const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n';
const policy = 'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec: {rules: []}\n';

const start = (...options: string[]) =>
  startSession({ 'policy.yaml': policy, 'pod.yaml': pod }, 'policy.yaml', '-r', 'pod.yaml', ...options);

describeUnless(unlessBuilt('dist/web/index.html'))('kymera playground', () => {
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
    for (const path of ['/%73ession', '/session/changes?since=0', '/sessio%6e/changes?since=0']) {
      expect((await call(path, { authorization: '' })).status, path).toBe(401);
    }
    for (const path of ['/session/file', '/%73ession/file', '/session/%66ile']) {
      const put = { method: 'PUT', body: JSON.stringify(edit) };
      expect((await call(path, { authorization: '' }, put)).status, path).toBe(401);
    }
    expect(readFileSync(join(running.folder, 'pod.yaml'), 'utf8')).toBe(pod);
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

  describe('with a kustomization', () => {
    const files = {
      'app/base/kustomization.yaml': 'resources: [pod.yaml]\n',
      'app/base/pod.yaml': pod,
      'app/base/notes.txt': 'any text\n',
      'app/.git/config': 'hidden\n',
      'app/top/kustomization.yaml': 'resources: [../base]\n',
      'other/secret.yaml': pod,
    };
    const names = ['base/kustomization.yaml', 'base/notes.txt', 'base/pod.yaml', 'top/kustomization.yaml'];
    const state = async (path = '/session') =>
      (await (await call(path)).json()) as { folder: string; files: { name: string; text: string }[] };

    beforeEach(async () => {
      await running.stop();
      running = await startSession(files, '-k', 'app/top', '--write');
    });

    it('has the files of all folders that it uses, and the folder to build', async () => {
      const { folder, files: found } = await state();
      expect([folder, found.map(({ name }) => name)]).toEqual(['top', names]);
    });

    it('follows changes on disk, also of the folders that it uses', async () => {
      const waiting = state('/session/changes?since=1');
      writeFileSync(join(running.folder, 'app/base/pod.yaml'), `${pod}# changed\n`);
      expect((await waiting).files[2]?.text).toBe(`${pod}# changed\n`);
      const next = state('/session/changes?since=2');
      mkdirSync(join(running.folder, 'app/part'));
      writeFileSync(join(running.folder, 'app/part/kustomization.yaml'), 'kind: Component\n');
      writeFileSync(join(running.folder, 'app/top/kustomization.yaml'), 'components: [../part]\n');
      expect((await next).files.map(({ name }) => name)).toContain('top/kustomization.yaml');
      await expect
        .poll(async () => (await state()).files.map(({ name }) => name))
        .toEqual(['part/kustomization.yaml', 'top/kustomization.yaml']);
    });

    it.each([
      ['a named pipe', (file: string) => execFileSync('mkfifo', [file])],
      ['a link to a device', (file: string) => symlinkSync('/dev/zero', file)],
    ])('does not read %s', async (_, make) => {
      await running.stop();
      running = await startSession({ 'app/kustomization.yaml': 'resources: [base]\n' }, '-k', 'app');
      mkdirSync(join(running.folder, 'app/base'));
      make(join(running.folder, 'app/base/kustomization.yaml'));
      writeFileSync(join(running.folder, 'app/base/pod.yaml'), pod);
      await expect
        .poll(async () => (await state()).files.map(({ name }) => name))
        .toEqual(['base/pod.yaml', 'kustomization.yaml']);
    });

    it('saves edits, but only to its files', async () => {
      const change = { role: 'files', name: 'base/pod.yaml', before: pod, text: `${pod}# edited\n` };
      expect((await save(change)).status).toBe(200);
      expect(readFileSync(join(running.folder, 'app/base/pod.yaml'), 'utf8')).toBe(change.text);
      for (const name of ['../other/secret.yaml', '.git/config', 'app/base/pod.yaml']) {
        expect((await save({ ...change, name })).status, name).toBe(404);
      }
    });

    it.each([
      ['nowhere', 'the folder does not exist'],
      ['other', 'the folder contains no kustomization'],
    ])('refuses the folder %s', async (folder, message) => {
      await running.stop();
      const { exitCode, stderr } = await kymera(['playground', '-k', folder], { files });
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
      running = await start();
    });
  });
});
