import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noCorpus } from '../needs.testing.ts';
import { existingFailures, isExistingCase } from './existing-corpus.ts';
import { corpusDifferences, differencesSection, writtenSection } from './expected-differences.ts';
import { findCorpus, offlineResults, readCorpus } from './kyverno-corpus.ts';
import { corpusFailures } from './kyverno-results.ts';
import { failuresOf, readCaseFiles } from './own-cases.ts';

const root = join(import.meta.dirname, '..', '..');
const files = readCaseFiles(join(import.meta.dirname, 'cases'));

describe('own cases', () => {
  it('that differ are listed on the page of differences: run npm run conformance', () => {
    expect(writtenSection(root)).toBe(differencesSection(files));
  });

  it('have ids of their own', () => {
    const ids = files.flatMap(({ cases }) => cases.map(({ id }) => id));
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  for (const { topic, cases } of files) {
    describe(topic, () => {
      for (const testCase of cases) {
        it(`${testCase.sheet} ${testCase.id}: ${testCase.title}`, async () => {
          expect(await failuresOf(testCase)).toEqual([]);
        });
      }
    });
  }
});

const corpus = findCorpus(root);

describe('Kyverno cases', () => {
  if (corpus === undefined) {
    it('give the same objects', ({ skip }) => skip(noCorpus));
    return;
  }
  const cases = readCorpus(corpus).filter(({ needs }) => needs === undefined);
  for (const corpusCase of cases) {
    const results = offlineResults(corpusCase);
    if (results.length === 0) continue;
    it(corpusCase.id, async () => {
      const failures = await Promise.all(results.map((result) => corpusFailures(corpusCase, result)));
      if (corpusDifferences.has(corpusCase.id)) expect(failures.flat()).not.toEqual([]);
      else expect(failures.flat()).toEqual([]);
    });
  }

  for (const corpusCase of readCorpus(corpus).filter(isExistingCase)) {
    it(`${corpusCase.id}, step by step`, async () => {
      expect(await existingFailures(corpusCase)).toEqual([]);
    });
  }
});
