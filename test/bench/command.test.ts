import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const command = join(import.meta.dirname, '..', '..', 'bench', 'command.mjs');

it.each(['SIGINT', 'SIGTERM'] as const)('%s ends the measured program with the run', async (signal) => {
  const program = `
    import { measureProgram } from ${JSON.stringify(command)};
    void measureProgram('sh', ['-c', 'echo $$ >&2; exec sleep 600'], '/dev/null');
    setTimeout(() => undefined, 600_000);
    console.log('started');`;
  const run = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(run.stdout, 'data');
  const measured = childOf(run.pid ?? 0);
  run.kill(signal);
  expect(await once(run, 'exit')).toEqual([130, null]);
  await expect.poll(() => existsSync(`/proc/${measured}`)).toBe(false);
});

it('a program that does not exist has no time, and one that fails gives the reason', async () => {
  const { measureProgram } = (await import(command)) as {
    measureProgram(name: string, args: readonly string[]): Promise<number | undefined>;
  };
  expect(await measureProgram('kymera-no-such-program', [])).toBeUndefined();
  await expect(measureProgram('sh', ['-c', 'echo broken >&2; exit 3'])).rejects.toThrow(
    'sh -c echo broken >&2; exit 3 ended with 3: broken',
  );
});

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}
