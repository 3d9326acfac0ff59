import { expect, it } from 'vitest';
import { withinLimits } from './warnings.ts';

it('warnings that fit are left as they are', () => {
  expect(withinLimits(['one', 'two'])).toEqual(['one', 'two']);
});

it('a long warning is cut to 256 characters, never in the middle of one', () => {
  const [ascii = '', pairs = ''] = withinLimits(['x'.repeat(300), '🚀'.repeat(200)]);
  expect(ascii).toBe(`${'x'.repeat(255)}…`);
  expect(pairs.length).toBeLessThanOrEqual(256);
  expect(pairs).toMatch(/^(?:🚀)+…$/u);
});

it('all together stay under 4096 bytes, and what is left out is counted', () => {
  const warnings = withinLimits(Array.from({ length: 50 }, (_, index) => `${index} ${'x'.repeat(250)}`));
  expect(Buffer.byteLength(warnings.join(''))).toBeLessThanOrEqual(4_096);
  expect(warnings.at(-1)).toBe(`${50 - (warnings.length - 1)} more warnings`);
});

it('what an HTTP header cannot carry is replaced', () => {
  expect(withinLimits(['a\nb\u0000c', 'x\ud800y'])).toEqual(['a b c', 'x\ufffdy']);
});
