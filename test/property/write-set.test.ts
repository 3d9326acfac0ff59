import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeSet } from '../../src/analysis/writes/write-set.ts';
import { matchesWildcard } from '../../src/expression/wildcard.ts';
import type { JsonObject } from '../../src/json/value.ts';
import { appliedRules, ownSamples, type Sample, upstreamSamples } from '../conformance/policy-samples.ts';
import { noCorpus } from '../needs.testing.ts';
import { uncoveredPlaces } from './write-coverage.testing.ts';

const own = ownSamples();
const upstream = upstreamSamples();

interface Coverage {
  readonly patches: number;
  readonly uncovered: readonly string[];
}

/** Looks at the patch of each rule that applied, on the object as that rule found it. */
async function coverageOf(sample: Sample, object: JsonObject): Promise<Coverage> {
  const applied = await appliedRules(sample, object);
  const uncovered = applied.flatMap(({ rule, before, patch }) => {
    const writes = writeSet(rule).flatMap((kind) => (isOfKind(before, kind.kind) ? kind.writes : []));
    return uncoveredPlaces(before, patch, writes).map(
      (place) => `${sample.name}, rule ${rule.name}: ${place}`,
    );
  });
  return { patches: applied.length, uncovered };
}

type Kind = ReturnType<typeof writeSet>[number]['kind'];

/** The body of a subresource may be of another kind. */
function isOfKind(object: JsonObject, { group, version, kind, subresource }: Kind): boolean {
  const [apiVersion = '', apiGroup = ''] = String(object['apiVersion']).split('/').reverse();
  return (
    subresource !== '' ||
    (matchesWildcard(group, apiGroup) &&
      matchesWildcard(version, apiVersion) &&
      matchesWildcard(kind, String(object['kind'])))
  );
}

describe('what a rule really writes lies in its write set', () => {
  it('in the conformance cases and the documented examples', async () => {
    const found = await Promise.all(
      own.flatMap((sample) => sample.objects.map((object) => coverageOf(sample, object))),
    );
    expect(found.flatMap(({ uncovered }) => uncovered)).toEqual([]);
    expect(found.reduce((sum, { patches }) => sum + patches, 0)).toBeGreaterThan(300);
  });

  it('in the cases of Kyverno', async ({ skip }) => {
    if (upstream === undefined) return skip(noCorpus);
    const found = await Promise.all(
      upstream.flatMap((sample) => sample.objects.map((object) => coverageOf(sample, object))),
    );
    expect(found.flatMap(({ uncovered }) => uncovered)).toEqual([]);
    expect(found.reduce((sum, { patches }) => sum + patches, 0)).toBeGreaterThan(100);
  });

  it('for any policy of them on any object of them', async () => {
    const samples = [...own, ...(upstream ?? [])].filter(({ set }) => set.policies.length > 0);
    const objects = [...own, ...(upstream ?? [])].flatMap((sample) => sample.objects);
    let patches = 0;
    const chosen = fc.record({ policy: fc.nat(samples.length - 1), on: fc.nat(objects.length - 1) });
    await fc.assert(
      fc.asyncProperty(chosen, async ({ policy, on }) => {
        const [sample, object] = [samples[policy], objects[on]];
        if (sample === undefined || object === undefined) return;
        const coverage = await coverageOf(sample, object);
        patches += coverage.patches;
        expect(coverage.uncovered).toEqual([]);
      }),
      { numRuns: 4_000 },
    );
    expect(patches).toBeGreaterThan(200);
  });
});
