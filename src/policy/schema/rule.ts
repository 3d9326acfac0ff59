import { generate } from './generate.ts';
import { filter, labelSelector } from './match.ts';
import { context, preconditions } from './rule-parts.ts';
import type { FieldType, ObjectSchema } from './schema.ts';

export const condition: ObjectSchema = {
  key: { type: 'free', description: 'The value to compare.' },
  operator: { type: 'string', description: 'The comparison operator.' },
  value: { type: 'free', description: 'The value to compare with.' },
  message: { type: 'string', description: 'Shown when the condition is false.' },
};

/** The old plain list is checked separately. */
export const conditions: ObjectSchema = {
  any: { type: { list: { object: condition } }, description: 'At least one must be true.' },
  all: { type: { list: { object: condition } }, description: 'All must be true.' },
};

const patches: ObjectSchema = {
  patchStrategicMerge: { type: 'free', description: 'A partial object, merged in; may contain anchors.' },
  patchesJson6902: { type: 'string', description: 'RFC 6902 operations, as a YAML or JSON string.' },
};

const foreachEntry: FieldType = {
  object: {
    list: {
      type: 'string',
      required: true,
      description: 'An expression, without braces, that yields the elements.',
    },
    order: {
      type: 'string',
      enum: ['Ascending', 'Descending'],
      description: 'The order in which elements are visited.',
    },
    as: { type: 'string', description: 'An additional name for the element; NAMEIndex is its index.' },
    context,
    preconditions,
    ...patches,
    foreach: { type: { list: { lazy: () => foreachEntry } }, description: 'A loop inside the loop.' },
  },
};

const target: ObjectSchema = {
  apiVersion: { type: 'string', description: 'apiVersion of the object.' },
  kind: { type: 'string', description: 'Its kind.' },
  namespace: { type: 'string', description: 'Its namespace; all when absent.' },
  name: { type: 'string', description: 'Its name; all when absent.' },
  uid: { type: 'string', description: 'Its uid.' },
  selector: { type: { object: labelSelector }, description: 'Its labels.' },
  context,
  preconditions,
};

const mutate: ObjectSchema = {
  ...patches,
  foreach: { type: { list: foreachEntry }, description: 'Patches for each element of a list.' },
  replacements: {
    type: { list: 'object' },
    description: 'kustomize replacements: a field of one object copied into fields of this one.',
  },
  targets: {
    type: { list: { object: target } },
    description: 'Existing objects to patch instead of the incoming one.',
  },
  mutateExistingOnPolicyUpdate: {
    type: 'boolean',
    default: false,
    description: 'Also patch the targets when the policy changes.',
  },
};

export const rule: ObjectSchema = {
  name: { type: 'string', required: true, maxLength: 63, description: 'Unique within the policy.' },
  match: { type: { object: filter }, required: true, description: 'What the rule applies to.' },
  exclude: { type: { object: filter }, description: 'What it does not apply to.' },
  context,
  preconditions,
  celPreconditions: { type: { list: 'object' }, description: 'CEL conditions; for validate rules only.' },
  reportProperties: { type: 'texts', description: 'Added to the report of the rule.' },
  skipBackgroundRequests: {
    type: 'boolean',
    default: true,
    description: 'Whether requests from the background controller are skipped.',
  },
  imageExtractors: {
    type: 'object',
    description: 'Where custom kinds contain images; for verifyImages only.',
  },
  mutate: { type: { object: mutate }, description: 'How the object is changed.' },
  validate: { type: 'object', description: 'Another rule type; ignored.' },
  generate: { type: { object: generate }, description: 'Objects to generate for the trigger.' },
  verifyImages: { type: { list: 'object' }, description: 'Another rule type; ignored.' },
};

/** The v1alpha1 fields instead of match and mutate. */
export const alphaRule: ObjectSchema = {
  name: { type: 'string', description: 'A label; `rule-<index>` when absent.' },
  resource: {
    type: {
      object: {
        kind: { type: 'string', description: 'The kind.' },
        kinds: { type: { list: 'string' }, description: 'The kinds.' },
        name: { type: 'string', description: 'The name, with wildcards.' },
        namespace: { type: 'string', description: 'The namespace, with wildcards.' },
        selector: { type: { object: labelSelector }, description: 'The labels.' },
      },
    },
    required: true,
    description: 'What the rule applies to.',
  },
  mutate: {
    type: {
      object: {
        patches: { type: { list: 'object' }, description: 'RFC 6902 operations.' },
        overlay: { type: 'free', description: 'The desired form of the object.' },
      },
    },
    description: 'How the object is changed.',
  },
  validate: { type: 'object', description: 'Another rule type; ignored.' },
  generate: { type: 'object', description: 'Another rule type; ignored.' },
};
