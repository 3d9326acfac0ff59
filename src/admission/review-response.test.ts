import { describe, expect, it } from 'vitest';
import { type AdmissionResponse, allow, deny, reviewText, reviewWith } from './review-response.ts';

describe('the text of a review', () => {
  it.each<[string, AdmissionResponse]>([
    ['allowed', allow('1')],
    ['with warnings', allow('1', ['a "quoted" one', 'schön'])],
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
  ])('%s is the JSON of its parts', (_name, response) => {
    const review = reviewWith('admission.k8s.io/v1', response);
    expect(reviewText(review)).toBe(JSON.stringify(review));
  });
});
