import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesWildcard } from '../../src/expression/wildcard.ts';
import { loadPolicies, type PolicySet, type Result } from '../../src/index.ts';
import { applyPatch } from '../../src/json/apply-patch.ts';
import type { JsonObject } from '../../src/json/value.ts';
import { createSnapshot } from '../../src/policy/registry.ts';
import { writeSet } from '../../src/policy/write-set.ts';
import type { ConformanceCase } from '../conformance/case.ts';
import { readDocumentedExamples } from '../conformance/documented-examples.ts';
import { runObject, type Surroundings } from '../conformance/engine-run.ts';
import { findCorpus, readCorpus, readObjects, readText } from '../conformance/kyverno-corpus.ts';
import { readCaseFiles } from '../conformance/own-cases.ts';
import { policyDocuments, resourcesOf, withName } from '../conformance/short-form.ts';
import { uncoveredPlaces } from './write-coverage.ts';

const root = join(import.meta.dirname, '..', '..');

interface Sample {
  readonly name: string;
  readonly set: PolicySet;
  readonly objects: readonly JsonObject[];
  readonly surroundings: Surroundings;
}

function sampleOf(testCase: ConformanceCase): Sample {
  const text = typeof testCase.policy === 'string' ? [{ file: 'p.yaml', text: testCase.policy }] : [];
  const files = policyDocuments(testCase).map((document, index) => ({
    file: `p${index}.json`,
    text: JSON.stringify(document),
  }));
  const set = loadPolicies(...text, ...files);
  return {
    name: testCase.id,
    set: { ...set, snapshot: createSnapshot(set.policies) },
    objects: testCase.operation === 'DELETE' ? [] : resourcesOf(testCase),
    surroundings: { ...testCase, objects: testCase.objects?.map(withName) },
  };
}

const own = [
  ...readCaseFiles(join(root, 'test', 'conformance', 'cases')).flatMap(({ cases }) => cases),
  ...readDocumentedExamples(join(root, 'docs', 'differences-from-kyverno.md')),
].map(sampleOf);

const corpus = findCorpus(root);
const upstream: readonly Sample[] =
  corpus === undefined
    ? []
    : readCorpus(corpus).map((corpusCase) => {
        const set = loadPolicies(...corpusCase.policies.map((file) => readText(corpusCase, file)));
        const read = (files: readonly string[] | undefined) =>
          (files ?? []).flatMap((file) => readObjects(corpusCase, file)).filter((object) => 'kind' in object);
        return {
          name: corpusCase.id,
          set: { ...set, snapshot: createSnapshot(set.policies) },
          objects: read(corpusCase.resources),
          surroundings: {
            values: corpusCase.values,
            objects: [...read(corpusCase.existing), ...read(corpusCase.resources)],
          },
        };
      });

interface Coverage {
  readonly patches: number;
  readonly uncovered: readonly string[];
}

async function coverageOf({ name, set, surroundings }: Sample, object: JsonObject): Promise<Coverage> {
  return coverageIn(await runObject(object, set, surroundings), object, name);
}

/** Looks at the patch of each rule that applied, on the object as that rule found it. */
function coverageIn(result: Result, start: JsonObject, name: string): Coverage {
  let object = start;
  let patches = 0;
  const uncovered: string[] = [];
  for (const outcome of result.outcomes) {
    if (outcome.status !== 'applied' || result.failedPolicies.includes(outcome.policy)) continue;
    patches++;
    const { rule, patch } = outcome;
    const writes = writeSet(rule).flatMap((kind) => (isOfKind(object, kind.kind) ? kind.writes : []));
    uncovered.push(
      ...uncoveredPlaces(object, patch, writes).map((place) => `${name}, rule ${rule.name}: ${place}`),
    );
    object = applyPatch(object, patch) as JsonObject;
  }
  return { patches, uncovered };
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
    if (corpus === undefined) skip('the corpus is not here: set KYMERA_CONFORMANCE to its folder');
    const found = await Promise.all(
      upstream.flatMap((sample) => sample.objects.map((object) => coverageOf(sample, object))),
    );
    expect(found.flatMap(({ uncovered }) => uncovered)).toEqual([]);
    expect(found.reduce((sum, { patches }) => sum + patches, 0)).toBeGreaterThan(100);
  });

  it('for any policy of them on any object of them', async () => {
    const samples = [...own, ...upstream].filter(({ set }) => set.policies.length > 0);
    const objects = [...own, ...upstream].flatMap((sample) => sample.objects);
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
