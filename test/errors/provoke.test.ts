import { describe, expect, it, test } from 'vitest';
import { adviseOnPolicy } from '../../src/analysis/advice/advice.ts';
import { type ErrorCode, errorTable } from '../../src/errors.ts';
import { loadPolicies, mutate } from '../../src/index.ts';
import { celCompilers } from '../../src/policy/cel/language.ts';
import { loadDocuments } from '../../src/policy/load.ts';
import { kymera } from '../cli/in-process.testing.ts';
import { type Provocation, provocations } from './provocations.testing.ts';

/** The codes that something makes appear, in problems, failures or messages. */
async function codesOf(provocation: Provocation): Promise<readonly string[]> {
  if ('argv' in provocation) {
    const { argv, files } = provocation;
    const { stdout, stderr } = await kymera(argv, files === undefined ? {} : { files });
    return [...(stdout + stderr).matchAll(/\[(KYM_\w+)\]/g)].map(([, code = '']) => code);
  }
  if (!('object' in provocation)) {
    const { problems } = loadDocuments([{ file: 'p.yaml', text: provocation.text }], {
      advise: adviseOnPolicy,
      cel: celCompilers,
    });
    return problems.map(({ code }) => code);
  }
  const set = loadPolicies({ file: 'p.yaml', text: provocation.text });
  expect(set.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const { refusal } = provocation;
  const guard = refusal === undefined ? undefined : { enter: () => refusal, leave: () => undefined };
  const { outcomes } = await mutate(provocation.object, set, { guard });
  return outcomes.flatMap((outcome) => (outcome.status === 'failed' ? [outcome.failure.code] : []));
}

describe('every problem code', () => {
  const codes = Object.keys(errorTable) as ErrorCode[];

  test.each(codes)('%s can be provoked', async (code) => {
    const provocation = provocations[code];
    expect(provocation, `no row for ${code} in provocations.testing.ts`).toBeDefined();
    expect(await codesOf(provocation)).toContain(code);
  });

  it('says its cause and its cure in sentences', () => {
    for (const { cause, cure } of Object.values(errorTable)) {
      expect(cause).toMatch(/^[A-Z`].*\.$/);
      expect(cure).toMatch(/^[A-Z`].*\.$/);
    }
  });
});
