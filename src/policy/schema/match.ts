import { type FieldType, type ObjectSchema, versionsWithFlatForms } from './schema.ts';

export const labelSelector: ObjectSchema = {
  matchLabels: { type: 'texts', description: 'Required labels and their values.' },
  matchExpressions: {
    type: {
      list: {
        object: {
          key: { type: 'string', required: true, description: 'The label.' },
          operator: {
            type: 'string',
            required: true,
            enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
            description: 'The comparison operator.',
          },
          values: { type: { list: 'string' }, description: 'Values for In and NotIn.' },
        },
      },
    },
    description: 'Requirements on labels, all of which must be true.',
  },
};

export const operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;

const resources: ObjectSchema = {
  kinds: {
    type: { list: 'string' },
    description:
      'Kind, version/Kind, group/version/Kind, each with an optional /subresource; `*` and `?` match.',
  },
  name: {
    type: 'string',
    description: 'The name of the object, with wildcards.',
    deprecated: 'names',
    versions: versionsWithFlatForms,
  },
  names: { type: { list: 'string' }, description: 'Names of the object, with wildcards; one must match.' },
  namespaces: {
    type: { list: 'string' },
    description: 'Namespaces, with wildcards; a Namespace is matched by its own name.',
  },
  annotations: {
    type: 'texts',
    description: 'Annotations the object must have; wildcards in key and value.',
  },
  selector: {
    type: { object: labelSelector },
    description: 'Labels of the object; wildcards in matchLabels.',
  },
  namespaceSelector: { type: { object: labelSelector }, description: "Labels of the object's namespace." },
  operations: { type: { list: 'string' }, enum: operations, description: 'Operations of the request.' },
};

const userInfo: ObjectSchema = {
  subjects: {
    type: {
      list: {
        object: {
          kind: {
            type: 'string',
            required: true,
            enum: ['User', 'Group', 'ServiceAccount'],
            description: 'The kind of identity.',
          },
          apiGroup: { type: 'string', description: 'The API group of the identity; ignored.' },
          name: { type: 'string', required: true, description: 'Its name, with wildcards.' },
          namespace: { type: 'string', description: 'The namespace of a ServiceAccount.' },
        },
      },
    },
    description: 'Users, groups and service accounts; one must match the requester.',
  },
  roles: {
    type: { list: 'string' },
    description: 'Roles of the requester, as namespace:name; the requester must have one.',
  },
  clusterRoles: {
    type: { list: 'string' },
    description: 'ClusterRoles of the requester; the requester must have one.',
  },
};

const block: FieldType = {
  object: { resources: { type: { object: resources }, description: 'The object.' }, ...userInfo },
};

function onlyIn(versions: readonly string[], schema: ObjectSchema): ObjectSchema {
  return Object.fromEntries(Object.entries(schema).map(([name, field]) => [name, { ...field, versions }]));
}

/** `match` and `exclude`. */
export const filter: ObjectSchema = {
  any: { type: { list: block }, description: 'One of these blocks must match.' },
  all: { type: { list: block }, description: 'All of these blocks must match.' },
  ...onlyIn(versionsWithFlatForms, {
    resources: { type: { object: resources }, description: 'The object.', deprecated: 'any or all' },
    ...userInfo,
  }),
};

/** `match` of a PolicyException. */
export const anyOrAll: ObjectSchema = {
  any: { type: { list: block }, description: 'One of these blocks must match.' },
  all: { type: { list: block }, description: 'All of these blocks must match.' },
};
