import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noCorpus } from '../needs.testing.ts';
import { celFailures, readCelCases } from './cel-cases.ts';
import {
  admissionPolicyFailures,
  celCorpusFailures,
  isAdmissionPolicyCase,
  knownCelDifferences,
  readCelCorpus,
  reasonToLeaveOut,
} from './cel-corpus.ts';
import { findCorpus } from './kyverno-corpus.ts';

describe('CEL policies', () => {
  for (const { topic, cases } of readCelCases(join(import.meta.dirname, 'cel'))) {
    describe(topic, () => {
      for (const testCase of cases) {
        it(testCase.id, async () => {
          expect(await celFailures(testCase)).toEqual([]);
        });
      }
    });
  }
});

const corpus = findCorpus(join(import.meta.dirname, '..', '..'));

describe("Kyverno's CEL policies", () => {
  if (corpus === undefined) {
    it('give the same objects', ({ skip }) => skip(noCorpus));
    return;
  }
  for (const testCase of readCelCorpus(corpus).filter((one) => reasonToLeaveOut(one) === undefined)) {
    it(testCase.id, async () => {
      const failures = await celCorpusFailures(testCase);
      if (knownCelDifferences.has(testCase.id)) expect(failures).not.toEqual([]);
      else expect(failures).toEqual([]);
    });
  }

  for (const testCase of readCelCorpus(corpus).filter(isAdmissionPolicyCase)) {
    it(`${testCase.id}, as the API server does it`, async () => {
      expect(await admissionPolicyFailures(testCase)).toEqual([]);
    });
  }
});
