import type { JsonObject } from '../../json/value.ts';

const count = (description: string): JsonObject => ({ type: 'integer', format: 'int32', description });
const text = (description: string): JsonObject => ({ type: 'string', description });

const conditions: JsonObject = {
  description: 'Whether the policy is in force, and why not.',
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
    properties: {
      type: text('`Ready`, or `WebhookConfigured` for CEL policies.'),
      status: { ...text('`True`, `False` or `Unknown`.'), enum: ['True', 'False', 'Unknown'] },
      reason: text('One word for the cause: `Succeeded` or `Failed`.'),
      message: text('The cause in words.'),
      lastTransitionTime: { ...text('When the status last changed.'), format: 'date-time' },
      observedGeneration: {
        type: 'integer',
        format: 'int64',
        description: 'The generation of the policy that this is about.',
      },
    },
  },
};

/** Status of ClusterPolicy and Policy. */
export const policyStatus: JsonObject = {
  description: 'Written by the controller.',
  type: 'object',
  properties: {
    conditions,
    autogen: {
      description: 'The rules that were generated for pod controllers.',
      type: 'object',
      properties: {
        rules: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    },
    rulecount: {
      description: 'How many rules of each type the author wrote.',
      type: 'object',
      properties: {
        validate: count('Validate rules.'),
        generate: count('Generate rules.'),
        mutate: count('Mutate rules.'),
        verifyimages: count('Image verification rules.'),
      },
    },
    ready: { type: 'boolean', nullable: true, description: 'Deprecated: see conditions.' },
    validatingadmissionpolicy: {
      description: 'Not written here; kept for policies that Kyverno has seen.',
      type: 'object',
      properties: {
        generated: { type: 'boolean', description: 'Whether one was generated.' },
        message: text('Why, or why not.'),
      },
    },
  },
};

/** Status of MutatingPolicy and NamespacedMutatingPolicy. */
export const celPolicyStatus: JsonObject = {
  description: 'Written by the controller.',
  type: 'object',
  properties: {
    conditionStatus: {
      description: 'Whether the policy is in force.',
      type: 'object',
      properties: {
        conditions,
        ready: { type: 'boolean', description: 'Whether all conditions are true.' },
        message: text('Why the policy is not in force, or what is notable.'),
      },
    },
    autogen: {
      description: 'The policies that were derived for pod controllers.',
      type: 'object',
      properties: {
        configs: {
          type: 'object',
          description: 'By name: `defaults`, `cronjobs`.',
          additionalProperties: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    },
    generated: { type: 'boolean', description: 'Whether a MutatingAdmissionPolicy was generated.' },
  },
};

/** Status of GlobalContextEntry. */
export const globalContextStatus: JsonObject = {
  description: 'Written by the controller.',
  type: 'object',
  properties: {
    conditions,
    ready: { type: 'boolean', nullable: true, description: 'Whether data is there.' },
    lastRefreshTime: { ...text('When data was last fetched.'), format: 'date-time', nullable: true },
  },
};

/** Status of UpdateRequest. A new UpdateRequest has no status and counts as pending. */
export const updateRequestStatus: JsonObject = {
  description: 'Written by the controller.',
  type: 'object',
  default: {},
  'x-kubernetes-preserve-unknown-fields': true,
  properties: {
    state: {
      ...text('Where it stands.'),
      enum: ['Pending', 'Failed', 'Completed', 'Skip'],
      default: 'Pending',
    },
    message: text('What was done, or what went wrong.'),
    retryCount: { type: 'integer', description: 'How often it was tried in vain.' },
    observedRequest: text('The request that this is about; a later one may have taken its place.'),
    endedAt: { ...text('When it ended.'), format: 'date-time' },
    deadLetter: { type: 'boolean', description: 'Given up, and kept to be seen.' },
    generatedResources: {
      description: 'Objects that were made or changed.',
      type: 'array',
      items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  },
};
