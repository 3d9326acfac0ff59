import { expect, it } from 'vitest';
import type { PatchOperation } from '../json/patch-operation.ts';
import { encodeAnywhere, encodePatch } from './patch-encoding.ts';

it.each([
  ['ASCII', 'plain "quoted" \\ text'],
  ['other scripts and emoji', 'schön — 東京 🚀'],
  ['control characters', 'line\nbreak\u0000'],
])('a patch with %s is base64 of its JSON in UTF-8', (_name, value) => {
  const patch: PatchOperation[] = [{ op: 'add', path: '/data/ü', value }];
  expect(JSON.parse(Buffer.from(encodePatch(patch), 'base64').toString('utf8'))).toEqual(patch);
  expect(encodeAnywhere(JSON.stringify(patch))).toBe(encodePatch(patch));
});
