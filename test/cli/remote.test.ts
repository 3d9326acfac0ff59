import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeUnless, unlessBuilt } from '../needs.testing.ts';
import { makeServing } from '../server/self-signed.testing.ts';
import { kymera } from './in-process.testing.ts';

const root = new URL('../../', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'kymera-remote-'));
let server: Server;
let origin = '';

const files: Readonly<Record<string, string>> = {
  '/policy.yaml':
    'apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  rules:\n  - name: r\n    match: {any: [{resources: {kinds: [Pod]}}]}\n    context: [{name: cm, configMap: {name: settings, namespace: default}}]\n    mutate: {patchStrategicMerge: {metadata: {labels: {team: "{{ cm.data.team }}"}}}}\n',
  '/objects.yaml':
    'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {team: shop}\n',
};

beforeAll(async () => {
  const { ca, cert, key } = await makeServing(['127.0.0.1'], 1);
  writeFileSync(join(folder, 'ca.crt'), ca);
  server = createServer({ cert, key }, (request, response) => {
    const text = files[request.url ?? ''];
    if (text === undefined) response.writeHead(404).end();
    else response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  origin = `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** The built program, which trusts the CA of the server. */
function run(...argv: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [join(root, 'bin/kymera'), ...argv], {
    cwd: folder,
    env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt') },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, stdout, stderr })));
}

describeUnless(unlessBuilt('dist/cli/main.js'))('policies and resources behind https addresses', () => {
  it('are applied, and objects that policies read are found in them', async () => {
    const argv = ['apply', `${origin}/policy.yaml`, '-r', `${origin}/objects.yaml`, '-o', 'yaml', '-q'];
    const { status, stdout, stderr } = await run(...argv);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('team: shop');
  });

  it('are explained, validated and checked', async () => {
    expect((await run('explain', `${origin}/policy.yaml`, '-r', `${origin}/objects.yaml`)).stdout).toContain(
      `Pod default/web (${origin}/objects.yaml:1)`,
    );
    expect((await run('validate', `${origin}/policy.yaml`)).status).toBe(0);
    expect((await run('migrate', 'check', `${origin}/policy.yaml`)).status).toBe(0);
  });

  it('are resources of a kustomization', async () => {
    const build = (name: string, ...more: string[]) => {
      writeFileSync(
        join(folder, 'kustomization.yaml'),
        `resources: ["${origin}/${name}"]\nbuildMetadata: [originAnnotations]\nnamePrefix: x-\n`,
      );
      return run('build', '.', ...more);
    };
    const { status, stdout, stderr } = await build('objects.yaml');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('name: x-settings');
    // kustomize cleans the address like a path.
    expect(stdout).toContain(`path: ${origin.replace('//', '/')}/objects.yaml`);
    expect(await build('none.yaml')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`resources[0]: ${origin}/none.yaml: the server answered 404`),
    });
    expect(await build('objects.yaml', '--offline')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--offline forbids reading addresses'),
    });
  });

  it('that do not exist are an error with the address', async () => {
    const { status, stderr } = await run('validate', `${origin}/none.yaml`);
    expect(status).toBe(2);
    expect(stderr).toContain(`${origin}/none.yaml: error: the server answered 404`);
  });
});

it.each([
  ['apply', 'https://127.0.0.1:1/p.yaml', '-r', 'https://127.0.0.1:1/r.yaml'],
  ['explain', 'https://127.0.0.1:1/p.yaml', '-r', 'https://127.0.0.1:1/r.yaml'],
  ['validate', 'https://127.0.0.1:1/p.yaml'],
  ['convert', 'https://127.0.0.1:1/p.yaml'],
  ['migrate', 'check', 'https://127.0.0.1:1/p.yaml'],
  ['existing', 'plan', 'https://127.0.0.1:1/p.yaml', '-r', 'https://127.0.0.1:1/r.yaml'],
])('--offline refuses addresses: %s', async (...argv) => {
  const { exitCode, stderr } = await kymera([...argv, '--offline']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('https://127.0.0.1:1/p.yaml: error: --offline forbids reading addresses');
});

it('a test cannot refer to an address', async () => {
  const { exitCode, stderr } = await kymera(['create', 'test', 'https://127.0.0.1:1/p.yaml', '-r', 'r.yaml']);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('a test refers to files');
});
