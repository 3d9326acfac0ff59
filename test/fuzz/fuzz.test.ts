import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../src/json/json-text.ts';
import { kustomizations, policies, templates } from './documents.testing.ts';
import { type Fuzzer, failureOf, fuzz, keepFinding, keptFindings } from './fuzzer.testing.ts';
import { celExpressions, expressions, jsonPatches, yamlTexts } from './languages.testing.ts';
import { reviewFuzzer } from './reviews.testing.ts';

// `npm run fuzz` sets the minutes per fuzzer and keeps findings as cases. `npm test` runs a fixed number of executions.
const minutes = Number(process.env['KYMERA_FUZZ_MINUTES'] ?? 0);
const firstSeed = Number(process.env['KYMERA_FUZZ_SEED'] ?? 1);
const limitMilliseconds = minutes > 0 ? minutes * 60_000 : 240_000;
const timeout = limitMilliseconds + 60_000;

const fuzzers: readonly (readonly [executions: number, Fuzzer])[] = [
  [1_500, policies],
  [1_500, templates],
  [10_000, expressions],
  [10_000, celExpressions],
  [5_000, jsonPatches],
  [2_000, yamlTexts],
  [200, kustomizations],
];

describe('fuzzing', () => {
  it.each(fuzzers.map(([executions, fuzzer]) => [fuzzer.name, executions, fuzzer] as const))(
    '%s',
    { timeout },
    (_, executions, fuzzer) => run(fuzzer, executions),
  );
  it('reviews', { timeout }, async () => run(await reviewFuzzer(), 20_000));
});

async function run<Input>(fuzzer: Fuzzer<Input>, executions: number): Promise<void> {
  const wanted = minutes > 0 ? Number.POSITIVE_INFINITY : executions;
  const limit = { executions: wanted, milliseconds: limitMilliseconds, firstSeed };
  const { executions: done, findings } = await fuzz(fuzzer, limit);
  console.log(`${fuzzer.name}: ${done} executions, ${findings.length} findings`);
  if (minutes > 0) for (const finding of findings) console.log(`kept ${keepFinding(finding)}`);
  expect(findings.map(({ seed, error, input }) => `seed ${seed}: ${error}\n${stringifyJson(input)}`)).toEqual(
    [],
  );
}

describe('earlier findings', () => {
  it.each(keptFindings())('%s', async (_, { fuzzer: name, input }) => {
    const all = [
      ...fuzzers.map(([, fuzzer]) => fuzzer),
      ...(name === 'reviews' ? [await reviewFuzzer()] : []),
    ];
    const fuzzer = all.find((each) => each.name === name);
    expect(
      fuzzer === undefined ? `there is no fuzzer ${name}` : await failureOf(fuzzer, input),
    ).toBeUndefined();
  });
  it('are replayed', () => expect(keptFindings()).toBeDefined());
});
