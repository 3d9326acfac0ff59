import { expect, it } from 'vitest';
import { createServeLog } from './log.ts';

interface LogLine {
  readonly msg: string;
  readonly dropped?: number;
  readonly index?: number;
}

/** An output whose reader takes one write at a time. */
function slowOutput() {
  const written: string[] = [];
  let release: () => void = () => undefined;
  return {
    output: {
      isTTY: false,
      write(text: string | Uint8Array) {
        written.push(String(text));
        return new Promise<void>((resolve) => {
          release = resolve;
        });
      },
    },
    size: () => written.reduce((sum, text) => sum + text.length, 0),
    lines: () =>
      written
        .join('')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as LogLine),
    async read() {
      release();
      await Promise.resolve();
      await Promise.resolve();
    },
  };
}

it('keeps a bounded backlog while nobody reads, and says how many lines were dropped', async () => {
  const { output, lines, size, read } = slowOutput();
  const log = createServeLog('info', output);
  log.info({ index: -1 }, 'first');
  log.flush();
  const count = 100_000;
  for (let index = 0; index < count; index += 1) log.info({ index, text: 'x'.repeat(100) }, 'line');
  await read();
  expect(size()).toBeLessThan(5_000_000);
  await read();
  log.flush();
  const printed = lines();
  const [notice] = printed.filter(({ dropped }) => dropped !== undefined);
  expect(notice?.msg).toBe('log lines were dropped because standard error is read too slowly');
  const kept = printed.filter(({ msg }) => msg === 'line');
  expect(kept.map(({ index }) => index)).toEqual(kept.map((_, index) => index));
  expect(kept.length + (notice?.dropped ?? 0)).toBe(count);
});

it('drops nothing while the output is read', async () => {
  const { output, lines, read } = slowOutput();
  const log = createServeLog('info', output);
  for (let index = 0; index < 2_000; index += 1) {
    log.info({ index }, 'line');
    await read();
  }
  log.flush();
  expect(lines()).toHaveLength(2_000);
});
