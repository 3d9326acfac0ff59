import fc from 'fast-check';
import { expect, it } from 'vitest';
import { scanJson } from './json-scan.ts';

const scan = (text: string) => scanJson(Buffer.from(text));

it.each([
  ['1', 0, 1],
  ['[]', 1, 2],
  ['[1,2,3]', 1, 4],
  ['{"a":{"b":[]}}', 3, 6],
  ['"[[[[{{{{,,,,::::"', 0, 1],
  ['["\\"[[[", "\\\\"]', 1, 3],
  ['"\\\\\\"["', 0, 1],
  ['"unterminated [[[', 0, 1],
  [']]]]', 0, 1],
  ['', 0, 1],
])('%s', (text, depth, tokens) => {
  expect(scan(text)).toEqual({ depth, tokens });
});

it('the depth of any document is that of its arrays and objects', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      expect(scan(JSON.stringify(value)).depth).toBe(depthOf(value));
    }),
  );
});

it('a string of backslashes is scanned in linear time', () => {
  const startedAt = process.cpuUsage().user;
  scan(`"${'\\\\'.repeat(2_000_000)}"`);
  scan(`"${'\\"'.repeat(2_000_000)}"`);
  expect(process.cpuUsage().user - startedAt).toBeLessThan(2_000_000);
});
