import type { JsonObject } from '../../json/value.ts';
import { celExceptionSchema, mutatingPolicySchema } from '../../policy/schema/cel.ts';
import { alphaPolicySchema, exceptionSchema, policySchema } from '../../policy/schema/policy.ts';
import type { FieldSchema } from '../../policy/schema/schema.ts';
import { globalContextSchema, updateRequestSchema } from './other-kinds.ts';
import { mergeSchemas, openApiOf, withDefaults } from './schema.ts';
import { celPolicyStatus, globalContextStatus, policyStatus, updateRequestStatus } from './status.ts';

interface KindDefinition {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** By default the kind in lower case. */
  readonly singular?: string | undefined;
  readonly shortNames: readonly string[];
  readonly scope: 'Cluster' | 'Namespaced';
  /** The first one is the storage version. */
  readonly versions: readonly string[];
  readonly schema: JsonObject;
  readonly columns: readonly JsonObject[];
  readonly description: string;
}

const readyCondition = '.status.conditions[?(@.type == "Ready")]';
const age = column('AGE', 'date', '.metadata.creationTimestamp');

function column(name: string, type: string, jsonPath: string, wide = false): JsonObject {
  return { name, type, jsonPath, ...(wide ? { priority: 1 } : {}) };
}

const policyColumns = [
  column('ADMISSION', 'boolean', '.spec.admission'),
  column('BACKGROUND', 'boolean', '.spec.background'),
  column('READY', 'string', `${readyCondition}.status`),
  age,
  column('FAILURE POLICY', 'string', '.spec.failurePolicy', true),
  column('VALIDATE', 'integer', '.status.rulecount.validate', true),
  column('MUTATE', 'integer', '.status.rulecount.mutate', true),
  column('GENERATE', 'integer', '.status.rulecount.generate', true),
  column('VERIFY IMAGES', 'integer', '.status.rulecount.verifyimages', true),
  column('MESSAGE', 'string', `${readyCondition}.message`),
];

const updateRequestColumns = [
  column('Policy', 'string', '.spec.policy'),
  column('RuleType', 'string', '.spec.requestType'),
  column('ResourceKind', 'string', '.spec.resource.kind'),
  column('ResourceName', 'string', '.spec.resource.name'),
  column('ResourceNamespace', 'string', '.spec.resource.namespace'),
  column('status', 'string', '.status.state'),
  age,
];

/** All dialects in one schema: versions of a kind share it, because there is no conversion webhook. */
const anyPolicy = schemaOf(openApiOf(mergeSchemas(policySchema, alphaPolicySchema)), policyStatus);
/** kubectl shows these defaults. v1alpha1 policies do not have the fields, so they are removed when such a policy is read. */
export const storedDefaults = { admission: true, background: true, emitWarning: false } as const;
export const storedRuleDefaults = { skipBackgroundRequests: true } as const;
const policyWithDefaults = withDefaults(anyPolicy, {
  'spec.admission': storedDefaults.admission,
  'spec.background': storedDefaults.background,
  'spec.emitWarning': storedDefaults.emitWarning,
  'spec.rules.[].skipBackgroundRequests': storedRuleDefaults.skipBackgroundRequests,
});

function policyDefinitions(
  group: string,
  prefix: string,
  clusterVersions: readonly string[],
  versions: readonly string[],
): readonly KindDefinition[] {
  const long = prefix === '' ? '' : 'kymera';
  const shared = { group, schema: policyWithDefaults, columns: policyColumns };
  return [
    {
      ...shared,
      kind: 'ClusterPolicy',
      plural: `${long}clusterpolicies`,
      singular: `${long}clusterpolicy`,
      shortNames: [`${prefix}cpol`],
      scope: 'Cluster',
      versions: clusterVersions,
      description: 'Rules that change objects as they are created or updated, in the whole cluster.',
    },
    {
      ...shared,
      kind: 'Policy',
      plural: `${long}policies`,
      singular: `${long}policy`,
      shortNames: [`${prefix}pol`],
      scope: 'Namespaced',
      versions,
      description: 'Rules that change objects as they are created or updated, in one namespace.',
    },
  ];
}

const celPolicySchema = schemaOf(openApiOf(mutatingPolicySchema), celPolicyStatus);
const celPolicyColumns = [
  age,
  column('READY', 'string', '.status.conditionStatus.ready'),
  column('FAILURE POLICY', 'string', '.spec.failurePolicy', true),
  column('MESSAGE', 'string', '.status.conditionStatus.message', true),
];
const celGroup = {
  group: 'policies.kyverno.io',
  versions: ['v1', 'v1beta1', 'v1alpha1'],
};

const celDefinitions: readonly KindDefinition[] = [
  {
    ...celGroup,
    kind: 'MutatingPolicy',
    plural: 'mutatingpolicies',
    shortNames: ['mpol'],
    scope: 'Cluster',
    schema: celPolicySchema,
    columns: celPolicyColumns,
    description: 'Mutations in CEL that change objects as they are created or updated, in the whole cluster.',
  },
  {
    ...celGroup,
    kind: 'NamespacedMutatingPolicy',
    plural: 'namespacedmutatingpolicies',
    versions: ['v1', 'v1beta1'],
    shortNames: ['nmpol'],
    scope: 'Namespaced',
    schema: celPolicySchema,
    columns: celPolicyColumns,
    description: 'Mutations in CEL that change objects as they are created or updated, in one namespace.',
  },
  {
    ...celGroup,
    kind: 'PolicyException',
    plural: 'policyexceptions',
    shortNames: [],
    scope: 'Namespaced',
    schema: schemaOf(openApiOf({ spec: celExceptionSchema['spec'] as FieldSchema })),
    columns: [age],
    description: 'Disables CEL policies for the requests it matches.',
  },
];

const definitions: readonly KindDefinition[] = [
  ...policyDefinitions('kyverno.io', '', ['v1', 'v2beta1'], ['v1', 'v2beta1', 'v1alpha1']),
  // Different plurals and short names: `kubectl get clusterpolicies` must continue to list Kyverno's.
  ...policyDefinitions('kymera.io', 'k', ['v1'], ['v1']),
  {
    group: 'policy.nirmata.io',
    kind: 'Policy',
    plural: 'policies',
    shortNames: [],
    scope: 'Cluster',
    versions: ['v1alpha1'],
    schema: anyPolicy,
    columns: policyColumns.filter(({ name }) => name !== 'ADMISSION' && name !== 'BACKGROUND'),
    description: 'A policy in its first form; `kymera convert` writes the form of today.',
  },
  {
    group: 'kyverno.io',
    kind: 'PolicyException',
    plural: 'policyexceptions',
    shortNames: ['polex'],
    scope: 'Namespaced',
    versions: ['v2', 'v2beta1'],
    schema: schemaOf(openApiOf(exceptionSchema)),
    columns: [age],
    description: 'Lifts rules of policies for the objects it matches.',
  },
  {
    group: 'kyverno.io',
    kind: 'GlobalContextEntry',
    plural: 'globalcontextentries',
    shortNames: ['gctxentry'],
    scope: 'Cluster',
    versions: ['v2beta1', 'v2alpha1'],
    schema: schemaOf(openApiOf(globalContextSchema), globalContextStatus),
    columns: [
      column('READY', 'string', `${readyCondition}.status`),
      age,
      column('REFRESH INTERVAL', 'string', '.spec.apiCall.refreshInterval'),
      column('LAST REFRESH', 'date', '.status.lastRefreshTime'),
    ],
    description: 'Data that policies share and read with globalReference.',
  },
  {
    group: 'kyverno.io',
    kind: 'UpdateRequest',
    plural: 'updaterequests',
    shortNames: ['ur'],
    scope: 'Namespaced',
    versions: ['v2'],
    schema: schemaOf(openApiOf(updateRequestSchema), updateRequestStatus),
    columns: updateRequestColumns,
    description: 'Work for the background, written and removed by the controller.',
  },
  ...celDefinitions,
];

/** The CustomResourceDefinitions of deploy/crds. */
export function customResourceDefinitions(): readonly JsonObject[] {
  return definitions.map(toDefinition);
}

/** The API server describes `kind` and `apiVersion` itself. */
function schemaOf(schema: JsonObject, status?: JsonObject): JsonObject {
  const { required, properties, ...rest } = schema;
  const names = (required as readonly string[] | undefined)?.filter((name) => name === 'spec') ?? [];
  return {
    ...rest,
    ...(names.length === 0 ? {} : { required: names }),
    properties: {
      ...(properties as JsonObject),
      metadata: { type: 'object' },
      ...(status === undefined ? {} : { status }),
    },
  };
}

function toDefinition(definition: KindDefinition): JsonObject {
  const { group, kind, plural, shortNames, scope, versions, schema, columns, description } = definition;
  const hasStatus = Object.hasOwn(schema['properties'] as JsonObject, 'status');
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      labels: { 'app.kubernetes.io/name': 'kymera', 'app.kubernetes.io/component': 'crds' },
    },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: definition.singular ?? kind.toLowerCase(),
        ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
        categories: [group.split('.')[0] === 'kymera' ? 'kymera' : 'kyverno'],
      },
      scope,
      conversion: { strategy: 'None' },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        ...(name === 'v1alpha1' ? { deprecated: true } : {}),
        additionalPrinterColumns: [...columns],
        schema: { openAPIV3Schema: { description, ...schema } },
        ...(hasStatus ? { subresources: { status: {} } } : {}),
      })),
    },
  };
}
