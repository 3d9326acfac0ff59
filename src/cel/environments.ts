import { authorizerLibrary } from './library/authorizer.ts';
import { contextLibrary } from './library/context.ts';
import { bindingsLibrary, encodersLibrary } from './library/extensions.ts';
import { formatLibrary } from './library/format.ts';
import { kyvernoLibrary } from './library/kyverno.ts';
import { kubernetesListsLibrary, listsLibrary, setsLibrary } from './library/lists.ts';
import { kyvernoMathLibrary, mathLibrary } from './library/math.ts';
import { networkLibrary } from './library/network.ts';
import { mutationLibrary } from './library/object.ts';
import { lenientOptionalLibrary, optionalLibrary } from './library/optional.ts';
import { quantityLibrary, semverLibrary } from './library/quantity.ts';
import { regexExtensionLibrary, regexLibrary } from './library/regex.ts';
import { standardLibrary } from './library/standard.ts';
import { stringsLibrary } from './library/strings.ts';
import { urlLibrary } from './library/url.ts';
import { twoVariableMacros } from './syntax/macros.ts';
import {
  createEnvironment,
  type Environment,
  extendEnvironment,
  type Library,
  type StructDeclaration,
} from './types/environment.ts';
import { parseType } from './types/signature.ts';
import { dynType, structType } from './types/type.ts';

/** Declares a struct by the types of its fields. */
export function declareStruct(name: string, fields: Readonly<Record<string, string>>): StructDeclaration {
  const types = new Map(Object.entries(fields).map(([field, type]) => [field, parseType(type)]));
  return { name, fieldType: (field) => types.get(field), fieldNames: [...types.keys()] };
}

const requestFields = {
  kind: 'struct kubernetes.GroupVersionKind',
  resource: 'struct kubernetes.GroupVersionResource',
  subResource: 'string',
  requestKind: 'struct kubernetes.GroupVersionKind',
  requestResource: 'struct kubernetes.GroupVersionResource',
  requestSubResource: 'string',
  name: 'string',
  namespace: 'string',
  operation: 'string',
  userInfo: 'struct kubernetes.UserInfo',
  dryRun: 'bool',
  options: 'dyn',
};

const admissionStructs: readonly StructDeclaration[] = [
  declareStruct('kubernetes.GroupVersionKind', { group: 'string', version: 'string', kind: 'string' }),
  declareStruct('kubernetes.GroupVersionResource', {
    group: 'string',
    version: 'string',
    resource: 'string',
  }),
  declareStruct('kubernetes.UserInfo', {
    username: 'string',
    uid: 'string',
    groups: 'list(string)',
    extra: 'map(string, list(string))',
  }),
  declareStruct('kubernetes.Namespace', {
    metadata: 'struct kubernetes.NamespaceMetadata',
    spec: 'struct kubernetes.NamespaceSpec',
    status: 'struct kubernetes.NamespaceStatus',
  }),
  declareStruct('kubernetes.NamespaceMetadata', {
    name: 'string',
    generateName: 'string',
    namespace: 'string',
    labels: 'map(string, string)',
    annotations: 'map(string, string)',
    UID: 'string',
    creationTimestamp: 'timestamp',
    deletionGracePeriodSeconds: 'int',
    deletionTimestamp: 'timestamp',
    generation: 'int',
    resourceVersion: 'string',
    finalizers: 'list(string)',
  }),
  declareStruct('kubernetes.NamespaceSpec', { finalizers: 'list(string)' }),
  declareStruct('kubernetes.NamespaceStatus', {
    conditions: 'list(struct kubernetes.NamespaceCondition)',
    phase: 'string',
  }),
  declareStruct('kubernetes.NamespaceCondition', {
    status: 'string',
    type: 'string',
    lastTransitionTime: 'timestamp',
    message: 'string',
    reason: 'string',
  }),
];

/** `object`, `oldObject`, `request` and `namespaceObject`. */
function admissionLibrary(request: StructDeclaration): Library {
  return {
    structs: [request, ...admissionStructs],
    variables: [
      { name: 'object', type: dynType },
      { name: 'oldObject', type: dynType },
      { name: 'request', type: structType(request.name) },
      { name: 'namespaceObject', type: structType('kubernetes.Namespace') },
    ],
  };
}

/** The functions of every expression that the API server evaluates. */
const kubernetesLibraries: readonly Library[] = [
  standardLibrary,
  optionalLibrary,
  stringsLibrary,
  listsLibrary,
  kubernetesListsLibrary,
  setsLibrary,
  regexLibrary,
  urlLibrary,
  networkLibrary,
  quantityLibrary,
  semverLibrary,
  formatLibrary,
  { macros: twoVariableMacros },
];

const kyvernoLibraries: readonly Library[] = [
  mathLibrary,
  kyvernoMathLibrary,
  bindingsLibrary,
  encodersLibrary,
  regexExtensionLibrary,
  lenientOptionalLibrary,
  kyvernoLibrary,
];

/** Names that the API server does not know. Of `math.abs` the checker reports `math`. */
const onlyInMutatingPolicies: ReadonlyMap<string, string> = new Map(
  [...kyvernoLibraries, contextLibrary()]
    .flatMap(({ functions = [], variables = [] }) => [...functions, ...variables])
    .map(({ name }) => name.replace(/\..*$/s, ''))
    .concat('cel', 'exceptions')
    .map((name) => [name, `Kubernetes does not have '${name}'; only Kyverno's MutatingPolicy has.`]),
);

const onlyInMutations: ReadonlyMap<string, string> = new Map([
  ...onlyInMutatingPolicies,
  ...['Object', 'JSONPatch', 'jsonpatch'].map(
    (name) => [name, `Kubernetes has '${name}' only in the expressions of mutations.`] as const,
  ),
]);

export interface AdmissionPolicyOptions {
  /** Declares `params`. */
  readonly params?: boolean | undefined;
  /** False for variables and match conditions, which have neither `Object` and `JSONPatch` nor `jsonpatch.escapeKey`. */
  readonly mutations?: boolean | undefined;
}

/** What a MutatingAdmissionPolicy can use, apart from its `variables`. */
export function admissionPolicyEnvironment({
  params = false,
  mutations = true,
}: AdmissionPolicyOptions = {}): Environment {
  const request = declareStruct('kubernetes.AdmissionRequest', requestFields);
  const paramsLibrary: Library = { variables: params ? [{ name: 'params', type: dynType }] : [] };
  return createEnvironment(
    [
      ...kubernetesLibraries,
      ...(mutations ? [mutationLibrary] : []),
      authorizerLibrary,
      admissionLibrary(request),
      paramsLibrary,
    ],
    { elsewhere: mutations ? onlyInMutatingPolicies : onlyInMutations, quotedNames: false },
  );
}

/** The environment of mutations, from that of the variables that they read. */
export function withMutationTypes(environment: Environment): Environment {
  return { ...extendEnvironment(environment, mutationLibrary), elsewhere: onlyInMutatingPolicies };
}

export interface MutatingPolicyOptions {
  /** The namespace of a NamespacedMutatingPolicy. */
  readonly namespace?: string | undefined;
}

/** What a MutatingPolicy or NamespacedMutatingPolicy can use, apart from its `variables`. */
export function mutatingPolicyEnvironment({ namespace }: MutatingPolicyOptions = {}): Environment {
  const request = declareStruct('kubernetes.AdmissionRequest', {
    ...requestFields,
    object: 'dyn',
    oldObject: 'dyn',
  });
  const exceptions: Library = {
    structs: [
      declareStruct('kyverno.Exceptions', { allowedImages: 'list(string)', allowedValues: 'list(string)' }),
    ],
    variables: [{ name: 'exceptions', type: structType('kyverno.Exceptions') }],
  };
  return createEnvironment([
    ...kubernetesLibraries,
    ...kyvernoLibraries,
    mutationLibrary,
    admissionLibrary(request),
    exceptions,
    contextLibrary(namespace),
  ]);
}
