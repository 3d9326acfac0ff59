import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sizeOf } from '../../scripts/dockerfile.mjs';
import { runImageSteps } from '../../scripts/image-steps.mjs';

const folder = mkdtempSync(join(tmpdir(), 'kymera-image-'));
let app = '';

/** As the image would be used: nothing of this repository is beside it. */
function inImage(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number; stdout: string }> {
  return new Promise((done) => {
    const options = { cwd: folder, env: { PATH: process.env['PATH'] ?? '', ...env }, timeout: 30_000 };
    execFile(process.execPath, [...args], options, (error, stdout) => {
      done({ code: error === null ? 0 : Number(error.code ?? -1), stdout });
    });
  });
}

describe('what the Dockerfile copies into the image', () => {
  beforeAll(() => {
    const { image } = runImageSteps({ folder, modules: resolve('node_modules') });
    app = join(image, 'app');
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is small', () => {
    expect(sizeOf(app)).toBeLessThan(8e6);
  });

  it('is the program', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(await inImage([join(app, 'bin/kymera'), '--version'])).toEqual({
      code: 0,
      stdout: `${version}\n`,
    });
  });

  it('tells what it is made of', () => {
    const bill = JSON.parse(readFileSync(join(app, 'sbom.spdx.json'), 'utf8'));
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const listed = bill.packages.map(({ name }: { name: string }) => name);
    expect(listed).toEqual(expect.arrayContaining(Object.keys(dependencies)));
    expect(listed).not.toContain('vitest');
    for (const { name, versionInfo, licenseDeclared } of bill.packages) {
      expect([name, versionInfo, licenseDeclared]).not.toContain(undefined);
    }
  });

  it('serves, and its health check sees whether it does', async () => {
    const check = (url: string) => inImage([join(app, 'healthcheck.mjs')], { KYMERA_HEALTH_URL: url });
    mkdirSync(join(folder, 'policies'));
    writeFileSync(join(folder, 'policies', 'none.yaml'), '');
    const args = [
      'serve',
      '--policies',
      'policies',
      '--state-dir',
      join(folder, 'state'),
      '--port',
      '0',
      '--metrics-port',
      '0',
    ];
    const server = spawn(process.execPath, [join(app, 'bin/kymera'), ...args], { cwd: folder });
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
  }, 60_000);
});

function servingPort(log: NodeJS.ReadableStream): Promise<number> {
  let text = '';
  return new Promise((done) => {
    log.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      const port = /"port":(\d+)/.exec(text)?.[1];
      if (port !== undefined) done(Number(port));
    });
  });
}
