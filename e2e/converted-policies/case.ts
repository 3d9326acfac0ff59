import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { convertPolicy } from '../../src/convert/policy.ts';
import { readObject } from '../../src/json/read-field.ts';
import type { JsonObject } from '../../src/json/value.ts';
import {
  type AdmissionCase,
  caseNamespace,
  type Expectation,
  isolated,
  placed,
} from '../admission-policies/case.ts';

interface CaseText {
  readonly id: string;
  /** The kinds of the rule; ConfigMap if absent. */
  readonly kinds?: readonly string[];
  /** Further fields of the rule. */
  readonly rule?: JsonObject;
  readonly mutate: JsonObject;
  readonly object: JsonObject;
  readonly expect?: Expectation;
}

export interface ConvertedCase extends AdmissionCase {
  /** The policy before the conversion. */
  readonly old: undefined;
  readonly original: JsonObject;
}

/** ClusterPolicies and their converted form, each with an object. */
export function readConvertedCases(): readonly ConvertedCase[] {
  const texts = parse(readFileSync(new URL('cases.yaml', import.meta.url), 'utf8')) as readonly CaseText[];
  return texts.map(convertedCase);
}

function convertedCase({ id, kinds = ['ConfigMap'], rule, mutate, object, expect }: CaseText): ConvertedCase {
  const match = { any: [{ resources: { kinds } }] };
  const original: JsonObject = {
    apiVersion: 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: { name: id, annotations: { 'pod-policies.kyverno.io/autogen-controllers': 'none' } },
    spec: { rules: [{ name: 'r', match, ...rule, mutate }] },
  };
  const { documents, refusals } = convertPolicy(original, { to: 'map' });
  if (refusals.length > 0) throw new Error(`${id}: ${refusals[0]?.path}: ${refusals[0]?.reason}`);
  const policies = documents.map(({ document }) =>
    document['kind'] === 'MutatingAdmissionPolicyBinding' ? withIsolation(document, id, object) : document,
  );
  const { namespace, namespaceObject } = caseNamespace(id);
  return {
    id,
    namespace,
    namespaceObject,
    policies,
    original,
    object: placed(object, id, namespace),
    old: undefined,
    params: [],
    expect: expect ?? 'mutated',
  };
}

/** The policies of one case do not see the objects of the others. */
function withIsolation(binding: JsonObject, id: string, object: JsonObject): JsonObject {
  const spec = readObject(binding, 'spec') ?? {};
  return { ...binding, spec: { ...spec, matchResources: isolated(spec, id, object) } };
}
