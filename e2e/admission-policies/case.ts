import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { JsonObject } from '../../src/json/value.ts';

/** One policy in the short form of the case files. */
interface PolicyText {
  readonly name?: string;
  /** An ApplyConfiguration expression: the only mutation. */
  readonly apply?: string;
  /** A JSONPatch expression: the only mutation. */
  readonly patch?: string;
  readonly mutations?: readonly { readonly apply?: string; readonly patch?: string }[];
  /** Expressions by name. */
  readonly conditions?: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
  /** Further fields of matchConstraints. */
  readonly match?: JsonObject;
  /** Further fields of the spec, which take precedence. */
  readonly spec?: JsonObject;
  /** The specs of the bindings, without the name of the policy. */
  readonly bindings?: readonly JsonObject[];
}

interface CaseText extends PolicyText {
  readonly id: string;
  readonly policies?: readonly PolicyText[];
  /** The new object. Its namespace, its name and `apiVersion: v1` may be left out. */
  readonly object: JsonObject;
  /** The object before an update. */
  readonly old?: JsonObject;
  /** The object is the body of this subresource of the old object. */
  readonly subresource?: string;
  readonly params?: readonly JsonObject[];
  readonly namespaceLabels?: JsonObject;
  readonly user?: { readonly username: string; readonly groups?: readonly string[] };
  readonly expect?: Expectation;
}

/**
 * `mutated` and `unchanged`: the API server admits the object. `ignored`: it admits the object in spite of an error. `denied`: it denies
 * the request. `refused`: it does not accept the policy.
 */
export type Expectation = 'mutated' | 'unchanged' | 'ignored' | 'denied' | 'refused';

export interface Subresource {
  readonly name: string;
  readonly parent: JsonObject;
}

export interface AdmissionCase {
  readonly id: string;
  /** The namespace of the case: its policies select only requests there. */
  readonly namespace: string;
  readonly namespaceObject: JsonObject;
  /** Policies and bindings. */
  readonly policies: readonly JsonObject[];
  readonly object: JsonObject;
  readonly old?: JsonObject | undefined;
  readonly subresource?: Subresource | undefined;
  readonly params: readonly JsonObject[];
  readonly user?: CaseText['user'];
  readonly expect: Expectation;
}

const folder = new URL('./', import.meta.url);
const apiVersion = 'admissionregistration.k8s.io/v1';
const caseLabel = 'e2e/case';

/** The cases of each file. */
export function readAdmissionCases(): readonly {
  readonly topic: string;
  readonly cases: readonly AdmissionCase[];
}[] {
  return readdirSync(fileURLToPath(folder))
    .filter((name) => name.endsWith('.yaml') && name !== 'widget.yaml')
    .sort()
    .map((name) => {
      const cases = parse(readFileSync(new URL(name, folder), 'utf8'), {
        merge: true,
      }) as readonly CaseText[];
      return { topic: name.replace('.yaml', ''), cases: cases.map(admissionCase) };
    });
}

/** The namespace of a case. */
export function caseNamespace(
  id: string,
  labels: JsonObject = {},
): Pick<AdmissionCase, 'namespace' | 'namespaceObject'> {
  const namespace = `map-${id}`;
  const metadata = { name: namespace, labels: { 'kubernetes.io/metadata.name': namespace, ...labels } };
  return { namespace, namespaceObject: { apiVersion: 'v1', kind: 'Namespace', metadata } };
}

/** Selectors in the bindings keep the policies of one case from the objects of the others. */
function admissionCase(text: CaseText): AdmissionCase {
  const { id } = text;
  const { namespace, namespaceObject } = caseNamespace(id, text.namespaceLabels);
  const complete = (object: JsonObject, name: string): JsonObject => placed(object, name, namespace);
  const old = text.old === undefined ? undefined : complete(text.old, id);
  return {
    id,
    namespace,
    namespaceObject,
    policies: (text.policies ?? [text]).flatMap((policy) => policyDocuments(policy, id, text.object)),
    object: complete(text.object, id),
    old,
    subresource: text.subresource && old ? { name: text.subresource, parent: old } : undefined,
    params: (text.params ?? []).map((param) => complete({ kind: 'ConfigMap', ...param }, 'settings')),
    user: text.user,
    expect: text.expect ?? 'mutated',
  };
}

const clusterKinds: ReadonlySet<unknown> = new Set(['Namespace', 'ClusterRole', 'PriorityClass']);

export function placed(object: JsonObject, name: string, namespace: string): JsonObject {
  const { kind, metadata, ...rest } = object;
  const given = metadata as JsonObject | undefined;
  const isCluster = clusterKinds.has(kind);
  return {
    apiVersion: 'v1',
    kind: kind ?? 'ConfigMap',
    metadata: {
      ...(given?.['generateName'] === undefined ? { name } : {}),
      ...(isCluster ? {} : { namespace }),
      ...given,
      ...(isCluster
        ? { labels: { [caseLabel]: name, ...(given?.['labels'] as JsonObject | undefined) } }
        : {}),
    },
    ...rest,
  };
}

function policyDocuments(policy: PolicyText, id: string, object: JsonObject): readonly JsonObject[] {
  const name = policy.name === undefined ? id : `${id}-${policy.name}`;
  const mutations = policy.mutations ?? [policy];
  const spec: JsonObject = {
    failurePolicy: 'Fail',
    reinvocationPolicy: 'Never',
    matchConstraints: { resourceRules: [defaultRule], ...policy.match },
    ...(policy.conditions === undefined ? {} : { matchConditions: named(policy.conditions) }),
    ...(policy.variables === undefined ? {} : { variables: named(policy.variables) }),
    mutations: mutations.map(({ apply, patch }) =>
      apply === undefined
        ? { patchType: 'JSONPatch', jsonPatch: { expression: patch ?? '' } }
        : { patchType: 'ApplyConfiguration', applyConfiguration: { expression: apply } },
    ),
    ...policy.spec,
  };
  const bindings = (policy.bindings ?? [{}]).map((binding, index) => ({
    apiVersion,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name: `${name}-${index}` },
    spec: { policyName: name, ...binding, matchResources: isolated(binding, id, object) },
  }));
  return [{ apiVersion, kind: 'MutatingAdmissionPolicy', metadata: { name }, spec }, ...bindings];
}

const defaultRule: JsonObject = {
  apiGroups: ['', 'apps', 'batch', 'networking.k8s.io', 'rbac.authorization.k8s.io', 'example.test'],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: [
    'configmaps',
    'pods',
    'services',
    'deployments',
    'cronjobs',
    'networkpolicies',
    'namespaces',
    'clusterroles',
    'widgets',
  ],
};

export function isolated(binding: JsonObject, id: string, object: JsonObject): JsonObject {
  const given: JsonObject = {
    ...namespacedOnly(object),
    ...(binding['matchResources'] as JsonObject | undefined),
  };
  const field = clusterKinds.has(object['kind']) ? 'objectSelector' : 'namespaceSelector';
  const selector = (given[field] ?? {}) as { readonly matchExpressions?: readonly JsonObject[] };
  const own =
    field === 'objectSelector'
      ? { key: caseLabel, operator: 'In', values: [id] }
      : { key: 'kubernetes.io/metadata.name', operator: 'In', values: [`map-${id}`] };
  return {
    ...given,
    [field]: { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), own] },
  };
}

/** A namespace selector does not exclude objects without a namespace. */
function namespacedOnly({ kind }: JsonObject): JsonObject {
  if (clusterKinds.has(kind)) return {};
  const all = ['*'];
  const rule = {
    apiGroups: all,
    apiVersions: all,
    operations: all,
    resources: ['*/*'],
    scope: 'Namespaced',
  };
  return { resourceRules: [rule] };
}

function named(expressions: Readonly<Record<string, string>>): JsonObject[] {
  return Object.entries(expressions).map(([name, expression]) => ({ name, expression }));
}
