import { anyOrAll } from './match.ts';
import { alphaRule, conditions, rule } from './rule.ts';
import type { ObjectSchema } from './schema.ts';

const metadata: ObjectSchema[string] = {
  type: 'object',
  required: true,
  description: 'Standard object metadata.',
};
const typeMeta: ObjectSchema = {
  apiVersion: { type: 'string', required: true, description: 'The version of this schema.' },
  kind: { type: 'string', required: true, description: 'The kind.' },
};
const failurePolicy = {
  type: 'string',
  enum: ['Fail', 'Ignore'],
  description: 'Whether a request is rejected when the policy fails.',
} as const;
const timeoutSeconds = {
  type: 'integer',
  minimum: 1,
  maximum: 30,
  description: 'The timeout of the policy.',
} as const;

const spec: ObjectSchema = {
  rules: { type: { list: { object: rule } }, description: 'Evaluated in this order.' },
  applyRules: {
    type: 'string',
    enum: ['All', 'One'],
    default: 'All',
    description: '`One` stops after the first rule that applied.',
  },
  failurePolicy: { ...failurePolicy, deprecated: 'webhookConfiguration.failurePolicy' },
  webhookConfiguration: {
    type: {
      object: {
        failurePolicy: { ...failurePolicy, default: 'Fail' },
        timeoutSeconds,
        matchConditions: {
          type: {
            list: {
              object: {
                name: { type: 'string', required: true, description: 'A name for messages.' },
                expression: { type: 'string', required: true, description: 'A CEL expression.' },
              },
            },
          },
          description: 'CEL conditions that the API server evaluates before it calls the webhook.',
        },
      },
    },
    description: 'Settings of the webhook.',
  },
  webhookTimeoutSeconds: { ...timeoutSeconds, deprecated: 'webhookConfiguration.timeoutSeconds' },
  emitWarning: { type: 'boolean', default: false, description: 'Show changes as warnings to the requester.' },
  admission: { type: 'boolean', default: true, description: 'Whether the policy applies to requests.' },
  background: { type: 'boolean', default: true, description: 'Whether it applies to existing objects.' },
  mutateExistingOnPolicyUpdate: {
    type: 'boolean',
    description: 'Patch targets when the policy changes.',
    deprecated: 'mutate.mutateExistingOnPolicyUpdate',
  },
  schemaValidation: { type: 'boolean', description: 'Without effect.', deprecated: 'nothing' },
  generateExisting: {
    type: 'boolean',
    description: 'For generate rules.',
    deprecated: 'generate.generateExisting',
  },
  generateExistingOnPolicyUpdate: {
    type: 'boolean',
    description: 'No longer supported.',
    deprecated: 'generate.generateExisting',
  },
  useServerSideApply: {
    type: 'boolean',
    description: 'Whether generate rules write with server-side apply, which keeps the fields of others.',
  },
  validationFailureAction: {
    type: 'string',
    enum: ['Audit', 'Enforce', 'audit', 'enforce'],
    description: 'For validate rules.',
    deprecated: 'validate.failureAction',
  },
  validationFailureActionOverrides: {
    type: { list: 'object' },
    description: 'For validate rules.',
    deprecated: 'validate.failureActionOverrides',
  },
};

/** ClusterPolicy and Policy. */
export const policySchema: ObjectSchema = {
  ...typeMeta,
  metadata,
  spec: { type: { object: spec }, required: true, description: 'The rules.' },
  status: { type: 'object', description: 'Written by the controller.' },
};

/** The v1alpha1 dialect. */
export const alphaPolicySchema: ObjectSchema = {
  ...typeMeta,
  metadata,
  spec: {
    type: {
      object: {
        rules: {
          type: { list: { object: alphaRule } },
          required: true,
          description: 'Evaluated in this order.',
        },
        validationFailureAction: { type: 'string', description: 'For validate rules.' },
      },
    },
    required: true,
    description: 'The rules.',
  },
  status: { type: 'object', description: 'Written by the controller.' },
};

export const exceptionSchema: ObjectSchema = {
  ...typeMeta,
  metadata,
  spec: {
    type: {
      object: {
        background: {
          type: 'boolean',
          default: true,
          description: 'Whether it applies to background scans.',
        },
        match: { type: { object: anyOrAll }, required: true, description: 'The objects it applies to.' },
        conditions: { type: { object: conditions }, description: 'Further conditions.' },
        exceptions: {
          type: {
            list: {
              object: {
                policyName: {
                  type: 'string',
                  required: true,
                  description: 'The policy: `name`, or `namespace/name`.',
                },
                ruleNames: {
                  type: { list: 'string' },
                  required: true,
                  description: 'Its rules, with wildcards.',
                },
              },
            },
          },
          required: true,
          description: 'The rules that are disabled.',
        },
        podSecurity: { type: { list: 'object' }, description: 'For validate rules.' },
      },
    },
    required: true,
    description: 'The disabled rules and the objects they are disabled for.',
  },
};
