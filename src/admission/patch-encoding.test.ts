import { expect, it } from 'vitest';
import { encodeAnywhere, encodePatch } from './patch-encoding.ts';

it.each([
  ['ASCII', 'plain "quoted" \\ text'],
  ['other scripts and emoji', 'schön — 東京 🚀'],
  ['control characters', 'line\nbreak\u0000'],
])('a patch with %s is base64 of its text in UTF-8', (_name, value) => {
  const patch = JSON.stringify([{ op: 'add', path: '/data/ü', value }]);
  expect(Buffer.from(encodePatch(patch), 'base64').toString('utf8')).toBe(patch);
  expect(encodeAnywhere(patch)).toBe(encodePatch(patch));
});
