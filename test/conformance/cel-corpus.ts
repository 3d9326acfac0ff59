import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { labelsOf } from '../../src/json/metadata.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../src/json/value.ts';
import { clusterObjects } from '../../src/offline/cluster-resource.ts';
import { nameOf, namespaceOf, withDefaultNamespace } from '../../src/offline/object-identity.ts';
import { readDocuments } from '../../src/policy/documents.ts';
import { parseYamlText } from '../../src/yaml/parse-text.ts';
import { type CelCase, type CelExpectation, runCelCase } from './cel-cases.ts';
import { differences } from './compare.ts';

/** A test of Kyverno's own, with what its engine gave for each object. */
export interface CelCorpusCase {
  readonly id: string;
  readonly folder: string;
  readonly document: JsonObject;
}

export function readCelCorpus(corpus: string): readonly CelCorpusCase[] {
  const root = join(corpus, '..', 'cel');
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((id) => !id.startsWith('own-') && existsSync(join(root, id, 'case.yaml')))
    .sort()
    .map((id) => {
      const folder = join(root, id);
      return {
        id,
        folder,
        document: parseYamlText(readFileSync(join(folder, 'case.yaml'), 'utf8')) as JsonObject,
      };
    });
}

interface OracleObject {
  readonly file: string;
  readonly doc: number;
  readonly outcome: CelExpectation['outcome'];
}

/** The objects whose outcome the real engine confirmed. */
export function oracleObjects({ document }: CelCorpusCase): readonly OracleObject[] {
  const oracle = document['oracle'];
  const objects = isObject(oracle) ? oracle['objects'] : undefined;
  return isArray(objects) ? (objects as unknown as OracleObject[]) : [];
}

/** Why the result of the real engine is not the expected one. */
export function reasonToLeaveOut(testCase: CelCorpusCase): string | undefined {
  if (oracleObjects(testCase).length === 0) return 'the real engine was not asked';
  const policies = documentsIn(testCase, testCase.document['policies'] as unknown as string[]);
  if (
    policies.some(
      (policy) => isObject(policy['spec']) && policy['spec']['targetMatchConstraints'] !== undefined,
    )
  ) {
    return 'the policy mutates existing objects';
  }
  if (
    testCase.document['crds'] !== undefined &&
    oracleObjects(testCase).some(({ outcome }) => outcome === 'error')
  ) {
    return 'the real engine did not know the schema that the case gives';
  }
  return undefined;
}

/** Where Kymera's result is another one on purpose. */
export const knownCelDifferences: ReadonlyMap<string, string> = new Map([
  [
    'lib-chainsaw-other-mpol-replace-image-registry',
    'an empty list stays an empty list and does not become null',
  ],
  ['lib-cli-other-mpol-replace-image-registry', 'an empty list stays an empty list and does not become null'],
]);

/** What differs from the real engine, one line each. Kyverno rewrites text for pod controllers, so this is strict. */
export async function celCorpusFailures(testCase: CelCorpusCase): Promise<readonly string[]> {
  const failures: string[] = [];
  const patched = documentsIn(testCase, ['oracle-patched.yaml']).map(withDefaultNamespace);
  for (const { file, doc, outcome } of oracleObjects(testCase)) {
    const object = documentsIn(testCase, [file])[doc];
    if (object === undefined) throw new Error(`${file} has no document ${doc}`);
    const wanted = outcome === 'mutated' || outcome === 'unchanged';
    const expected = wanted
      ? patched.find((one) => isSameObject(one, withDefaultNamespace(object)))
      : undefined;
    const actual = await runCelCase(caseFor(testCase, withDefaultNamespace(object)), true);
    if (actual.outcome !== outcome) {
      failures.push(
        `${file}[${doc}]: expected ${outcome}, got ${actual.outcome} (${actual.messages.join('; ')})`,
      );
    } else if (expected !== undefined) {
      const lines = differences(expected, (actual.object ?? null) as Json, 'ordered');
      failures.push(...lines.map((line) => `${file}[${doc}]${line}`));
    }
  }
  return failures;
}

/** Whether the case has expected objects of a MutatingAdmissionPolicy, which the real engine of MutatingPolicies does not run. */
export function isAdmissionPolicyCase({ document }: CelCorpusCase): boolean {
  const kinds = document['policyKinds'];
  return isArray(kinds) && kinds.includes('MutatingAdmissionPolicy') && document['kind'] === 'cli-test';
}

/** What differs from the objects that Kyverno's test of a MutatingAdmissionPolicy expects. */
export async function admissionPolicyFailures(testCase: CelCorpusCase): Promise<readonly string[]> {
  const failures: string[] = [];
  const results = testCase.document['results'] as unknown as readonly { readonly patched?: string }[];
  const resources = documentsIn(testCase, testCase.document['resources'] as unknown as string[]);
  for (const { patched } of results) {
    for (const expected of documentsIn(testCase, patched === undefined ? [] : [patched]).map(
      withDefaultNamespace,
    )) {
      const object = resources.map(withDefaultNamespace).find((one) => isSameObject(one, expected));
      if (object === undefined) continue;
      const actual = await runCelCase(caseFor(testCase, object), false);
      failures.push(...differences(expected, (actual.object ?? null) as Json, 'exact'));
    }
  }
  return failures;
}

function isSameObject(a: JsonObject, b: JsonObject): boolean {
  return a['kind'] === b['kind'] && nameOf(a) === nameOf(b) && namespaceOf(a) === namespaceOf(b);
}

function caseFor(testCase: CelCorpusCase, resource: JsonObject): CelCase {
  const { document, id } = testCase;
  const files = (key: string): readonly JsonObject[] =>
    documentsIn(testCase, (document[key] ?? []) as unknown as string[]);
  const values = isObject(document['values']) ? document['values'] : {};
  const namespaces = isArray(values['namespaceSelector']) ? values['namespaceSelector'] : [];
  const { userinfo } = document;
  const user = typeof userinfo === 'string' ? documentsIn(testCase, [userinfo])[0] : undefined;
  const space = namespaceOf(resource);
  const own = files('resources').find((one) => one['kind'] === 'Namespace' && nameOf(one) === space);
  const labels = namespaces.find((entry) => isObject(entry) && entry['name'] === space);
  return {
    id,
    policies: files('policies'),
    resource,
    exceptions: files('exceptions'),
    objects: ['existing', 'clusterResources', 'crds', 'targetResources']
      .flatMap(files)
      .flatMap(clusterObjects)
      .map(withDefaultNamespace),
    ...(isObject(labels) && isObject(labels['labels'])
      ? { namespaceLabels: labels['labels'] }
      : own === undefined
        ? {}
        : { namespaceLabels: labelsOf(own) }),
    ...(isObject(user?.['userInfo']) ? { userInfo: user['userInfo'] } : {}),
    expect: { outcome: 'mutated' },
  };
}

function documentsIn({ folder }: CelCorpusCase, files: readonly string[]): readonly JsonObject[] {
  return files.flatMap((file) => {
    const path = join(folder, file);
    if (!existsSync(path)) return [];
    return readDocuments({ file, text: readFileSync(path, 'utf8') }).documents.map(({ value }) => value);
  });
}
