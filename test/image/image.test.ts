import { execFile, execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const dockerfile = readFileSync('Dockerfile', 'utf8').replaceAll('\\\n', ' ');
const [, buildStage = '', finalStage = ''] = dockerfile.split(/^FROM /m);
const folder = mkdtempSync(join(tmpdir(), 'kymera-image-'));
const build = join(folder, 'build');
const app = join(folder, 'app');

/** The arguments of each COPY from the build context. */
function copiesOf(stage: string): readonly (readonly string[])[] {
  return [...stage.matchAll(/^COPY (?!--from)(.+)$/gm)].map(([, words = '']) => words.split(' '));
}
const contextSources = [...copiesOf(buildStage), ...copiesOf(finalStage)].flatMap((words) =>
  words.slice(0, -1),
);

describe('the Dockerfile', () => {
  it('copies only files that exist and that .dockerignore lets through', () => {
    const allowed = new Set(readFileSync('.dockerignore', 'utf8').split('\n'));
    expect(contextSources.filter((source) => !allowed.has(`!${source}`))).toEqual([]);
    for (const source of contextSources) expect(statSync(source), source).toBeDefined();
  });

  it('installs from the lock file', () => {
    expect(buildStage).toMatch(/^RUN npm ci /m);
    expect(dockerfile).not.toMatch(/\bnpm (i|install|add)\b/);
  });

  it('ships a stage that runs no command and a user that is not root', () => {
    expect(finalStage).not.toMatch(/^RUN /m);
    expect(finalStage).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    expect(finalStage).toMatch(/^ENTRYPOINT \["node", "\/app\/bin\/kymera"\]$/m);
    expect(finalStage).toMatch(/^HEALTHCHECK .*"\/app\/healthcheck.mjs"/m);
  });

  it('takes no secret', () => {
    expect(dockerfile).not.toMatch(/^(ARG|ENV) .*(token|secret|passw|key)/im);
  });
});

describe('the contents of the image', () => {
  beforeAll(() => {
    for (const source of copiesOf(buildStage).flatMap((words) => words.slice(0, -1))) {
      mkdirSync(dirname(join(build, source)), { recursive: true });
      cpSync(source, join(build, source), { recursive: true });
    }
    symlinkSync(resolve('node_modules'), join(build, 'node_modules'));
    const command = /^RUN (node scripts\/build.mjs .+)$/m.exec(buildStage)?.[1] ?? 'false';
    execFileSync('sh', ['-ec', command], { cwd: build });
    for (const source of ['bin', 'dist', 'sbom.spdx.json'])
      cpSync(join(build, source), join(app, source), { recursive: true });
    for (const source of ['package.json', 'deploy/image/healthcheck.mjs'])
      cpSync(source, join(app, source.split('/').at(-1) ?? ''));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are small', () => {
    const names = readdirSync(app, { recursive: true, encoding: 'utf8' });
    const sizeOf = (some: readonly string[]) =>
      some.reduce((sum, name) => sum + statSync(join(app, name)).size, 0);
    const isPage = (name: string) => name.startsWith(join('dist', 'web'));
    expect(sizeOf(names.filter((name) => !isPage(name)))).toBeLessThan(8e6);
    expect(sizeOf(names.filter(isPage))).toBeLessThan(2.1e6);
  });

  it('start without packages beside them', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(await inImage([join(app, 'bin/kymera'), '--version'])).toEqual({
      code: 0,
      stdout: `${version}\n`,
    });
  });

  it('include a bill of materials', () => {
    const bill = JSON.parse(readFileSync(join(app, 'sbom.spdx.json'), 'utf8'));
    const listed = bill.packages.map(({ name }: { name: string }) => name);
    expect(listed).toEqual(
      expect.arrayContaining(['@kubernetes/client-node', 'commander', 'fastify', 'pino', 're2js', 'yaml']),
    );
    expect(listed).not.toContain('vitest');
    for (const { name, versionInfo, licenseDeclared } of bill.packages) {
      expect([name, versionInfo, licenseDeclared]).not.toContain(undefined);
    }
  });

  it('serve, and the health check reports whether they do', async () => {
    const check = (url: string) => inImage([join(app, 'healthcheck.mjs')], { KYMERA_HEALTH_URL: url });
    mkdirSync(join(folder, 'policies'));
    cpSync('policies/image-defaults/policy.yaml', join(folder, 'policies/policy.yaml'));
    const args = ['serve', '--policies', 'policies', '--state-dir', join(folder, 'state')];
    const ports = ['--port', '0', '--metrics-port', '0'];
    const server = spawn(process.execPath, [join(app, 'bin/kymera'), ...args, ...ports], { cwd: folder });
    try {
      const port = await servingPort(server.stderr);
      expect((await check(`https://127.0.0.1:${port}/healthz`)).code).toBe(0);
      expect((await check(`https://127.0.0.1:${port}/nothing-here`)).code).toBe(1);
      server.kill('SIGTERM');
      expect(await new Promise((done) => server.once('exit', done))).toBe(0);
      expect((await check(`https://127.0.0.1:${port}/healthz`)).code).toBe(1);
    } finally {
      server.kill('SIGKILL');
    }
  });
});

/** Runs Node in a folder that has nothing of this repository in it. */
function inImage(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; stdout: string }> {
  return new Promise((done) => {
    const options = { cwd: folder, env: { PATH: process.env['PATH'] ?? '', ...env } };
    execFile(process.execPath, [...args], options, (error, stdout) => {
      done({ code: error === null ? 0 : Number(error.code ?? -1), stdout });
    });
  });
}

function servingPort(log: NodeJS.ReadableStream): Promise<number> {
  let printed = '';
  return new Promise((done) => {
    log.setEncoding('utf8').on('data', (part: string) => {
      printed += part;
      const port = /"port":(\d+)/.exec(printed)?.[1];
      if (port !== undefined) done(Number(port));
    });
  });
}
