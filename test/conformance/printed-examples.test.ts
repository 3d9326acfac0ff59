import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { equal } from '../../src/json/equal.ts';
import { readText } from '../../src/json/read-field.ts';
import type { JsonObject } from '../../src/json/value.ts';
import { readDocuments } from '../../src/policy/documents.ts';
import { kymera } from '../cli/in-process.testing.ts';
import { describeUnless } from '../needs.testing.ts';
import type { ConformanceCase } from './case.ts';
import { failuresOf, readCaseFiles } from './own-cases.ts';

/**
 * The source documents of this project, with the policies as they are printed. They are not part of this repository:
 * the cases contain copies, and this test compares them with the documents and runs them with the printed text.
 */
const folder = resolve(import.meta.dirname, '../..', process.env['KYMERA_SEEDS'] ?? '../shared/seeds');
const missing = existsSync(folder)
  ? undefined
  : 'the source documents are not here: set KYMERA_SEEDS to their folder';

interface Block {
  /** `003, line 196` */
  readonly place: string;
  /** The file name that the line before the block contains. */
  readonly title: string;
  readonly text: string;
}

const blocks: readonly Block[] = missing === undefined ? readdirSync(folder).flatMap(blocksOf) : [];

function blocksOf(file: string): readonly Block[] {
  const text = readFileSync(join(folder, file), 'utf8');
  return [...text.matchAll(/(?:`([\w.-]+)`\n)?^(`{3,4})ya?ml[^\n]*\n(.*?)^\2\s*$/gms)].map((match) => ({
    place: `${file.slice(0, 3)}, line ${text.slice(0, match.index).split('\n').length}`,
    title: match[1] ?? '',
    text: match[3] ?? '',
  }));
}

function policyIn(text: string): JsonObject | undefined {
  const { documents } = readDocuments({ file: 'printed.yaml', text });
  const [document] = documents;
  return /^(?:Cluster)?Policy$/.test(readText(document?.value ?? {}, 'kind') ?? '')
    ? document?.value
    : undefined;
}

const cases: readonly ConformanceCase[] = readCaseFiles(join(import.meta.dirname, 'cases'))
  .flatMap((file) => file.cases)
  .filter(({ sheet }) => sheet === 'seed');

describeUnless(missing)('policies of the documents, as printed', () => {
  const printed = blocks.flatMap((block) => {
    const policy = policyIn(block.text);
    return policy === undefined ? [] : [{ ...block, policy }];
  });

  it('there are as many as expected', () => {
    expect(printed.filter(({ place }) => place.startsWith('002'))).toHaveLength(5);
    expect(printed.filter(({ place }) => place.startsWith('003')).length).toBeGreaterThanOrEqual(28);
  });

  it.each(printed)('$place', async ({ text, policy }) => {
    const same = cases.filter(
      (each) => typeof each.policy === 'string' && equal(policyIn(each.policy) ?? null, policy),
    );
    expect(same.map(({ id }) => id)).not.toEqual([]);
    for (const each of same) expect(await failuresOf({ ...each, policy: text })).toEqual([]);
  });
});

describeUnless(missing)('the worked example of replacements, as printed', () => {
  it('builds what is printed', async () => {
    const named = blocks.filter(({ place, title }) => place.startsWith('000') && title.endsWith('.yaml'));
    const files = Object.fromEntries(named.map(({ title, text }) => [title, text]));
    expect(Object.keys(files)).toContain('job.yaml');
    const { exitCode, stdout } = await kymera(['build', '.'], { files });
    expect(exitCode).toBe(0);
    const output = blocks.filter(({ place }) => place.startsWith('000')).at(-1)?.text ?? '';
    // The comments of the printed output explain it.
    const objects = (text: string) =>
      readDocuments({ file: 'output.yaml', text })
        .documents.map(({ value }) => value)
        .sort((a, b) => String(a['kind']).localeCompare(String(b['kind'])));
    expect(objects(stdout)).toEqual(objects(output));
  });
});
