import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadCertificate, renewSelfSigned } from './certificate.ts';
import { createServeLog } from './log.ts';
import type { ServeOptions } from './options.ts';

const sink = { isTTY: false, write: () => {} };
const io = {
  stdin: [] as unknown as AsyncIterable<string>,
  stdout: sink,
  stderr: sink,
  cwd: mkdtempSync(join(tmpdir(), 'kymera-serve-')),
  env: {},
};
const options = { host: '127.0.0.1', stateDir: 'state' } as ServeOptions;

it('a server that runs for long renews the certificate that it made', async () => {
  const first = await loadCertificate(options, io);
  const renewed: string[] = [];
  let days = 0;
  const watch = renewSelfSigned(
    options,
    first,
    { io, log: createServeLog('silent', sink), interval: 1_000, renewalInterval: 10 },
    ({ cert }) => renewed.push(cert),
    () => new Date(Date.now() + days * 86_400_000),
  );
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(renewed).toEqual([]);
  days = 250;
  await expect.poll(() => renewed.length).toBe(1);
  days = 500;
  await expect.poll(() => renewed.length).toBe(2);
  watch.stop();
  expect(new Set([first.cert, ...renewed]).size).toBe(3);
  expect((await loadCertificate(options, io)).ca).toEqual(first.ca);
});
