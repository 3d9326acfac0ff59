import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { equal } from '../../src/json/equal.ts';
import { applyPatch, PatchApplyError } from '../../src/json/patch/apply-patch.ts';
import type { UserPatchOperation } from '../../src/json/patch/operation.ts';
import type { Json } from '../../src/json/value.ts';
import { corpusFolder, describeUnless, noCorpus } from '../needs.testing.ts';

// The json-patch-tests suite, strict and lenient. Its data is not part of this repository.

interface SuiteCase {
  readonly comment?: string;
  readonly doc: Json;
  readonly patch: readonly UserPatchOperation[];
  readonly expected?: Json;
  readonly error?: string;
  readonly disabled?: boolean;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(corpusFolder, 'json-patch');
const present = existsSync(folder);

const files = present ? readdirSync(folder).filter((file) => file.endsWith('.json')) : [];
const cases = files.flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as SuiteCase[]);
const enabled = cases.filter((entry) => !entry.disabled);

/** The document after the patch, or undefined if the patch failed. */
function outcome(entry: SuiteCase, lenient: boolean): Json | undefined {
  try {
    return applyPatch(entry.doc, entry.patch, { lenient });
  } catch (error) {
    if (error instanceof PatchApplyError) return undefined;
    throw error;
  }
}

function holds(entry: SuiteCase, lenient: boolean): boolean {
  const result = outcome(entry, lenient);
  if (entry.error !== undefined) return result === undefined;
  return result !== undefined && (entry.expected === undefined || equal(result, entry.expected));
}

function title(entry: SuiteCase): string {
  const operation = entry.patch[0];
  const text = entry.comment ?? entry.error ?? JSON.stringify(entry.patch);
  return `${text.replace(/\s+/g, ' ')} | ${operation?.op} ${operation?.path}`;
}

function listedDifferences(): string[] {
  const text = readFileSync(join(root, 'docs/json-patch-differences.md'), 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith('Cases of json-patch-tests')) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(1).map((row) => row.split(' | ').slice(0, 2).join(' | ').replace(/^\| /, ''));
}

describeUnless(present ? undefined : noCorpus)('json-patch-tests', () => {
  it('has cases', () => {
    expect(enabled.length).toBeGreaterThan(100);
  });

  it.each(enabled.map((entry) => [title(entry), entry] as const))('strict: %s', (_, entry) => {
    if (entry.error !== undefined) {
      expect(() => applyPatch(entry.doc, entry.patch)).toThrow(PatchApplyError);
    } else {
      expect(applyPatch(entry.doc, entry.patch)).toEqual(entry.expected ?? entry.doc);
    }
  });

  it('lenient differs in the documented cases and no others', () => {
    const different = enabled.filter((entry) => !holds(entry, true)).map(title);
    expect(different.toSorted()).toEqual(listedDifferences().toSorted());
  });
});
