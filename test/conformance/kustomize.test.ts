import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kustomizeFailures, readKustomizeCases } from './kustomize-cases.ts';

const cases = readKustomizeCases(join(import.meta.dirname, 'kustomize'));

describe('kustomize cases', () => {
  it('are there', () => expect(cases.length).toBeGreaterThan(300));

  for (const testCase of cases) {
    const ids = testCase.sheet.length === 0 ? '' : `${testCase.sheet.join(' ')} `;
    it(`${ids}${testCase.id}: ${testCase.title}`, async () => {
      expect(await kustomizeFailures(testCase)).toEqual([]);
    });
  }
});
