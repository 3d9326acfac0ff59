import { describe, expect, it } from 'vitest';
import {
  type AdmissionResponse,
  allow,
  deny,
  encodePatch,
  encodeUtf8,
  reviewText,
  reviewWith,
} from './review-response.ts';

describe('a review as JSON', () => {
  it.each<[string, AdmissionResponse]>([
    ['allowed', allow('1')],
    ['with warnings', allow('1', ['a "quoted" one', 'schön 名前 🐎 \u2028'])],
    ['denied', deny('1', 'because')],
    ['with a patch', { uid: 'u"\\1', allowed: true, patchType: 'JSONPatch', patch: 'W10=' }],
    [
      'with all of it',
      {
        uid: '1',
        allowed: true,
        patchType: 'JSONPatch',
        patch: 'W10=',
        warnings: ['a "quoted" one'],
        auditAnnotations: { 'mutated-by': 'a"/b' },
      },
    ],
  ])('%s equals JSON.stringify, but is ASCII', (_name, response) => {
    const review = reviewWith('admission.k8s.io/v1', response);
    const text = reviewText(review);
    expect(text).toMatch(/^[\x20-\x7e]*$/);
    expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(review));
  });
});

it.each([
  ['ASCII', 'plain "quoted" \\ text'],
  ['other scripts and emoji', 'schön — 東京 🚀'],
  ['control characters', 'line\nbreak\u0000'],
])('a patch with %s is base64 of its UTF-8 bytes', (_name, value) => {
  const patch = JSON.stringify([{ op: 'add', path: '/data/ü', value }]);
  expect(Buffer.from(encodePatch(patch), 'base64').toString('utf8')).toBe(patch);
  expect(encodeUtf8(patch)).toBe(encodePatch(patch));
});
