import { expect, test } from 'vitest';
import { holdOutput } from './held-output.ts';

test('output beyond the limit goes to a temporary file and is written completely or not at all', async () => {
  const written: string[] = [];
  const output = {
    isTTY: false,
    write: (text: string | Uint8Array) => void written.push(Buffer.from(text as Uint8Array).toString()),
  };
  const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index} äöü ${'.'.repeat(100)}\n`);
  for (const end of ['discard', 'release'] as const) {
    const held = holdOutput(output, 10_000);
    for (const line of lines) await held.write(line);
    expect(written).toEqual([]);
    await held[end]();
  }
  expect(written.join('')).toBe(lines.join(''));
});
