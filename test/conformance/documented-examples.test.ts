import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDocumentedExamples } from './documented-examples.ts';
import { failuresOf } from './own-cases.ts';

const page = join(import.meta.dirname, '..', '..', 'docs', 'differences-from-kyverno.md');

describe('examples of differences-from-kyverno.md', () => {
  for (const example of readDocumentedExamples(page)) {
    it(example.title, async () => {
      expect(await failuresOf(example)).toEqual([]);
    });
  }
});
