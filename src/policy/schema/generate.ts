import { labelSelector } from './match.ts';
import { context, preconditions } from './rule-parts.ts';
import type { ObjectSchema } from './schema.ts';

/** The generated object, for a rule or for one entry of its foreach. */
const pattern: ObjectSchema = {
  apiVersion: { type: 'string', description: 'apiVersion of the generated object.' },
  kind: { type: 'string', description: 'Its kind.' },
  namespace: { type: 'string', description: 'Its namespace; absent for cluster-scoped kinds.' },
  name: { type: 'string', description: 'Its name.' },
  uid: { type: 'string', description: 'Without effect.' },
  data: { type: 'free', description: 'The object, without kind and name.' },
  clone: {
    type: {
      object: {
        namespace: { type: 'string', description: 'Namespace of the object to copy.' },
        name: { type: 'string', description: 'Its name.' },
      },
    },
    description: 'An object to copy; it has the kind of the generated object.',
  },
  cloneList: {
    type: {
      object: {
        namespace: { type: 'string', description: 'Namespace of the objects to copy.' },
        kinds: { type: { list: 'string' }, description: 'Their kinds: `v1/Secret`.' },
        selector: { type: { object: labelSelector }, description: 'Their labels, without wildcards.' },
      },
    },
    description: 'Objects to copy, under their own names.',
  },
};

export const generate: ObjectSchema = {
  generateExisting: {
    type: 'boolean',
    description: 'Whether existing triggers count; defaults to the setting of the policy.',
  },
  synchronize: {
    type: 'boolean',
    default: false,
    description: 'Whether generated objects follow their source, trigger and rule.',
  },
  orphanDownstreamOnPolicyDelete: {
    type: 'boolean',
    default: false,
    description: 'Whether generated objects stay when the policy is deleted.',
  },
  ...pattern,
  foreach: {
    type: {
      list: {
        object: {
          list: {
            type: 'string',
            description: 'An expression, without braces, that yields the elements.',
          },
          context,
          preconditions,
          ...pattern,
        },
      },
    },
    description: 'Objects for each element of a list.',
  },
};
