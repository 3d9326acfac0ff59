import { join } from 'node:path';
import { loadPolicies, type Outcome, type PolicySet } from '../../src/index.ts';
import { applyPatch } from '../../src/json/patch/apply-patch.ts';
import type { PatchOperation } from '../../src/json/patch/operation.ts';
import type { JsonObject } from '../../src/json/value.ts';
import { createSnapshot } from '../../src/policy/registry/registry.ts';
import type { ConformanceCase } from './case.ts';
import { readDocumentedExamples } from './documented-examples.ts';
import { runObject, type Surroundings } from './engine-run.ts';
import { findCorpus, readCorpus, readObjects, readText } from './kyverno-corpus.ts';
import { readCaseFiles } from './own-cases.ts';
import { policyDocuments, resourcesOf, withName } from './short-form.ts';

const root = join(import.meta.dirname, '..', '..');

/** Policies with objects to run them on, taken from the conformance cases. */
export interface Sample {
  readonly name: string;
  readonly set: PolicySet;
  readonly objects: readonly JsonObject[];
  readonly surroundings: Surroundings;
}

/** From our own cases and the documented differences. */
export function ownSamples(): readonly Sample[] {
  const cases = readCaseFiles(join(root, 'test', 'conformance', 'cases')).flatMap((file) => file.cases);
  return [...cases, ...readDocumentedExamples(join(root, 'docs', 'differences-from-kyverno.md'))].map(
    sampleOf,
  );
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

/** From Kyverno's own tests; undefined where they are not on this machine. */
export function upstreamSamples(): readonly Sample[] | undefined {
  const corpus = findCorpus(root);
  if (corpus === undefined) return undefined;
  return readCorpus(corpus).map((corpusCase) => {
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
}

/** What one rule did to an object. */
export interface AppliedRule {
  readonly rule: Outcome['rule'];
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly patch: readonly PatchOperation[];
}

/** The rules that changed an object, each with the object as it found and left it. */
export async function appliedRules(sample: Sample, object: JsonObject): Promise<readonly AppliedRule[]> {
  const { outcomes, failedPolicies } = await runObject(object, sample.set, sample.surroundings);
  let current = object;
  return outcomes.flatMap((outcome) => {
    if (outcome.status !== 'applied' || failedPolicies.includes(outcome.policy)) return [];
    const before = current;
    current = applyPatch(before, outcome.patch) as JsonObject;
    return [{ rule: outcome.rule, before, after: current, patch: outcome.patch }];
  });
}
