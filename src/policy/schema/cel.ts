import type { FieldSchema, ObjectSchema } from './schema.ts';

const typeMeta: ObjectSchema = {
  apiVersion: { type: 'string', required: true, description: 'The version of this schema.' },
  kind: { type: 'string', required: true, description: 'The kind.' },
  metadata: { type: 'object', required: true, description: 'Standard object metadata.' },
};
const status: FieldSchema = { type: 'object', description: 'Written by the controller.' };

const texts = (description: string): FieldSchema => ({ type: { list: 'string' }, description });
const expressions = (what: string): FieldSchema => ({
  type: {
    list: {
      object: {
        name: { type: 'string', required: true, description: 'A name, unique in the list.' },
        expression: { type: 'string', required: true, description: `A CEL expression: ${what}.` },
      },
    },
  },
  description: `Named CEL expressions: ${what}.`,
});
const body = (what: string): FieldSchema => ({
  type: {
    object: {
      expression: { type: 'string', required: true, description: `A CEL expression that gives ${what}.` },
    },
  },
  description: `The mutation, as ${what}.`,
});

const resourceRule: ObjectSchema = {
  apiGroups: texts('API groups; `""` is the core group, `*` is every group.'),
  apiVersions: texts('Versions; `*` is every version.'),
  operations: {
    type: { list: 'string' },
    enum: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT', '*'],
    description: 'Operations; `*` is every operation.',
  },
  resources: texts(
    'Plural names of resources, with `/SUBRESOURCE` for subresources: `pods`, `pods/status`, `*`.',
  ),
  scope: {
    type: 'string',
    enum: ['*', 'Cluster', 'Namespaced'],
    default: '*',
    description: 'Whether cluster-scoped or namespaced objects match.',
  },
  resourceNames: texts('Names of objects; all if empty.'),
};

const matchResources: ObjectSchema = {
  namespaceSelector: { type: 'object', description: 'Selects by the labels of the namespace.' },
  objectSelector: {
    type: 'object',
    description: 'Selects by the labels of the object, or of the old object.',
  },
  resourceRules: {
    type: { list: { object: resourceRule } },
    description: 'Requests that match one of these rules.',
  },
  excludeResourceRules: {
    type: { list: { object: resourceRule } },
    description: 'Requests that never match.',
  },
  matchPolicy: {
    type: 'string',
    enum: ['Equivalent', 'Exact'],
    default: 'Equivalent',
    description: 'Whether requests for other versions of a resource match too.',
  },
};

const mutations: FieldSchema = {
  type: {
    list: {
      object: {
        patchType: {
          type: 'string',
          required: true,
          enum: ['ApplyConfiguration', 'JSONPatch'],
          description: 'Which of the two bodies is set.',
        },
        applyConfiguration: body('an Object that is merged into the object'),
        jsonPatch: body('a list of JSONPatch operations'),
      },
    },
  },
  description: 'Changes, in this order. Each sees the result of the one before.',
};

const failurePolicy: FieldSchema = {
  type: 'string',
  enum: ['Fail', 'Ignore'],
  default: 'Fail',
  description: 'Whether a request is rejected when the policy fails.',
};
const reinvocationPolicy: FieldSchema = {
  type: 'string',
  enum: ['Never', 'IfNeeded'],
  default: 'Never',
  description: 'Whether the API server calls again after other mutations.',
};
const enabled = (preset: boolean, description: string): FieldSchema => ({
  type: { object: { enabled: { type: 'boolean', default: preset, description } } },
  description,
});

const mutatingPolicySpec: ObjectSchema = {
  matchConstraints: { type: { object: matchResources }, description: 'The requests that the policy is for.' },
  matchConditions: expressions('a boolean; all must be true'),
  variables: expressions('the value of `variables.NAME`, evaluated when it is first read'),
  mutations,
  failurePolicy,
  reinvocationPolicy,
  targetMatchConstraints: {
    type: {
      object: {
        ...matchResources,
        expression: { type: 'string', description: 'A CEL expression that gives the targets.' },
      },
    },
    description: 'Existing objects to mutate instead of the object of the request.',
  },
  targetMatchConditions: expressions('a boolean about a target; all must be true'),
  auditAnnotations: {
    type: {
      list: {
        object: {
          key: { type: 'string', required: true, description: 'The key, unique in the list.' },
          valueExpression: {
            type: 'string',
            required: true,
            description: 'A CEL expression: a string or null.',
          },
        },
      },
    },
    description: 'Properties of the report.',
  },
  webhookConfiguration: {
    type: {
      object: {
        timeoutSeconds: {
          type: 'integer',
          minimum: 1,
          maximum: 30,
          default: 10,
          description: 'The timeout of the webhook.',
        },
      },
    },
    description: 'Settings of the webhook.',
  },
  evaluation: {
    type: {
      object: {
        mode: {
          type: 'string',
          enum: ['Kubernetes', 'JSON'],
          default: 'Kubernetes',
          description: 'Whether the policy is for Kubernetes requests or for other JSON.',
        },
        admission: enabled(true, 'Whether the policy applies to requests.'),
        background: enabled(true, 'Whether background scans report on the policy.'),
        mutateExisting: enabled(false, 'Whether the policy mutates existing objects.'),
        skipBackgroundRequests: {
          type: 'boolean',
          default: true,
          description: 'Whether requests of the background controller are skipped.',
        },
        useServerSideApply: {
          type: 'boolean',
          default: false,
          description: 'Whether an ApplyConfiguration may replace atomic lists, maps and structs.',
        },
      },
    },
    description: 'When and how the policy is evaluated.',
  },
  autogen: {
    type: {
      object: {
        podControllers: {
          type: { object: { controllers: texts('Plural names; all if absent, none if empty.') } },
          description: 'Controllers for which a Pod policy is translated.',
        },
        mutatingAdmissionPolicy: enabled(false, 'Whether a MutatingAdmissionPolicy is generated.'),
      },
    },
    description: 'Policies that are derived from this one.',
  },
};

/** MutatingPolicy and NamespacedMutatingPolicy. */
export const mutatingPolicySchema: ObjectSchema = {
  ...typeMeta,
  spec: { type: { object: mutatingPolicySpec }, required: true, description: 'The policy.' },
  status,
};

export const admissionPolicySchema: ObjectSchema = {
  ...typeMeta,
  spec: {
    type: {
      object: {
        paramKind: {
          type: {
            object: {
              apiVersion: { type: 'string', required: true, description: 'The API version of parameters.' },
              kind: { type: 'string', required: true, description: 'The kind of parameters.' },
            },
          },
          description: 'The kind of the objects that bindings pass as `params`.',
        },
        matchConstraints: {
          type: { object: matchResources },
          description: 'The requests that the policy is for.',
        },
        matchConditions: expressions('a boolean; all must be true'),
        variables: expressions('the value of `variables.NAME`, evaluated when it is first read'),
        mutations,
        failurePolicy,
        reinvocationPolicy,
      },
    },
    required: true,
    description: 'The policy.',
  },
  status,
};

export const admissionBindingSchema: ObjectSchema = {
  ...typeMeta,
  spec: {
    type: {
      object: {
        policyName: { type: 'string', required: true, description: 'The MutatingAdmissionPolicy.' },
        matchResources: { type: { object: matchResources }, description: 'Limits the requests further.' },
        paramRef: {
          type: {
            object: {
              name: { type: 'string', description: 'The parameter object.' },
              namespace: {
                type: 'string',
                description: 'Its namespace; the namespace of the request if absent.',
              },
              selector: { type: 'object', description: 'Selects parameter objects by their labels.' },
              parameterNotFoundAction: {
                type: 'string',
                enum: ['Allow', 'Deny'],
                description: 'What happens when there is no parameter object.',
              },
            },
          },
          description: 'The objects that are passed as `params`.',
        },
      },
    },
    required: true,
    description: 'Which requests the policy applies to, and with which parameters.',
  },
};

/** The PolicyException of policies.kyverno.io. */
export const celExceptionSchema: ObjectSchema = {
  ...typeMeta,
  spec: {
    type: {
      object: {
        policyRefs: {
          type: {
            list: {
              object: {
                name: { type: 'string', required: true, description: 'The policy.' },
                kind: { type: 'string', required: true, description: 'Its kind: `MutatingPolicy`.' },
              },
            },
          },
          required: true,
          description: 'The policies that are disabled.',
        },
        matchConditions: expressions('a boolean; all must be true'),
        images: texts('Values of `exceptions.allowedImages`.'),
        allowedValues: texts('Values of `exceptions.allowedValues`.'),
        reportResult: {
          type: 'string',
          enum: ['skip', 'pass'],
          default: 'skip',
          description: 'The result in reports.',
        },
        expiresAt: { type: 'string', description: 'When the exception ends, in RFC 3339.' },
        properties: { type: 'texts', description: 'Properties of the report.' },
        evaluationMode: { type: 'string', description: 'For other kinds of policies.' },
      },
    },
    required: true,
    description: 'The disabled policies, and for which requests.',
  },
  status,
};
