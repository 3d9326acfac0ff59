import type { Json, JsonObject } from '../../json/value.ts';
import {
  admissionBindingSchema,
  admissionPolicySchema,
  celExceptionSchema,
  mutatingPolicySchema,
} from './cel.ts';
import { alphaPolicySchema, exceptionSchema, policySchema } from './policy.ts';
import type { FieldSchema, FieldType, ObjectSchema } from './schema.ts';

interface DocumentKind {
  readonly apiVersions: readonly string[];
  readonly kinds: readonly string[];
  readonly schema: ObjectSchema;
}

const documents: Readonly<Record<string, DocumentKind>> = {
  policy: {
    apiVersions: ['kyverno.io/v1', 'kyverno.io/v2beta1', 'kymera.io/v1'],
    kinds: ['ClusterPolicy', 'Policy'],
    schema: policySchema,
  },
  oldPolicy: {
    apiVersions: ['kyverno.io/v1alpha1', 'policy.nirmata.io/v1alpha1'],
    kinds: ['Policy'],
    schema: alphaPolicySchema,
  },
  exception: {
    apiVersions: ['kyverno.io/v2', 'kyverno.io/v2beta1'],
    kinds: ['PolicyException'],
    schema: exceptionSchema,
  },
  mutatingPolicy: {
    apiVersions: celVersions('policies.kyverno.io'),
    kinds: ['MutatingPolicy', 'NamespacedMutatingPolicy'],
    schema: mutatingPolicySchema,
  },
  celException: {
    apiVersions: celVersions('policies.kyverno.io'),
    kinds: ['PolicyException'],
    schema: celExceptionSchema,
  },
  mutatingAdmissionPolicy: {
    apiVersions: celVersions('admissionregistration.k8s.io'),
    kinds: ['MutatingAdmissionPolicy'],
    schema: admissionPolicySchema,
  },
  mutatingAdmissionPolicyBinding: {
    apiVersions: celVersions('admissionregistration.k8s.io'),
    kinds: ['MutatingAdmissionPolicyBinding'],
    schema: admissionBindingSchema,
  },
};

function celVersions(group: string): readonly string[] {
  return ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`);
}

/**
 * A JSON Schema (draft 7, which language servers for YAML read) of policies and exceptions. Documents of other kinds
 * pass, so that the schema can be applied to a folder with other objects.
 */
export function documentJsonSchema(): JsonObject {
  const definitions: Record<string, Json> = {};
  const choices = Object.entries(documents).map(([name, { apiVersions, kinds, schema }]) => {
    const { properties, ...rest } = objectSchema(schema, definitions);
    definitions[name] = {
      ...rest,
      properties: {
        ...(properties as JsonObject),
        apiVersion: { enum: [...apiVersions] },
        kind: { enum: [...kinds] },
        status: true,
      },
    };
    return {
      if: {
        required: ['apiVersion', 'kind'],
        properties: { apiVersion: { enum: [...apiVersions] }, kind: { enum: [...kinds] } },
      },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { $ref: `#/definitions/${name}` },
    };
  });
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Policies of Kymera and Kyverno that change objects',
    type: 'object',
    allOf: choices,
    definitions,
  };
}

function objectSchema(schema: ObjectSchema, definitions: Record<string, Json>): JsonObject {
  const required = Object.keys(schema).filter((name) => schema[name]?.required === true);
  const properties = Object.fromEntries(
    Object.entries(schema).map(([name, field]) => [name, fieldSchema(field, definitions)]),
  );
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties,
    additionalProperties: false,
  };
}

function fieldSchema(field: FieldSchema, definitions: Record<string, Json>): JsonObject {
  const { description, deprecated, default: preset } = field;
  const instead = deprecated === undefined || deprecated === 'nothing' ? '' : ` Use ${deprecated}.`;
  return {
    description: `${description}${instead}`,
    ...(deprecated === undefined ? {} : { deprecated: true }),
    ...(preset === undefined ? {} : { default: preset }),
    ...typeSchema(field.type, limitsOf(field), definitions),
  };
}

/** Limits of a list are those of its items. */
function limitsOf({ enum: values, minimum, maximum, maxLength }: FieldSchema): JsonObject {
  return {
    ...(values === undefined ? {} : { enum: [...values] }),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
    ...(maxLength === undefined ? {} : { maxLength }),
  };
}

function typeSchema(type: FieldType, limits: JsonObject, definitions: Record<string, Json>): JsonObject {
  if (type === 'free') return {};
  if (type === 'object') return { type: 'object' };
  if (type === 'texts') return { type: 'object', additionalProperties: { type: 'string' } };
  if (typeof type === 'string') return { type, ...limits };
  if ('list' in type) return { type: 'array', items: typeSchema(type.list, limits, definitions) };
  if ('object' in type) return objectSchema(type.object, definitions);
  return { $ref: recursive(type, definitions) };
}

/** The only schema that contains itself is that of a loop. */
function recursive(
  type: Extract<FieldType, { readonly lazy: unknown }>,
  definitions: Record<string, Json>,
): string {
  if (definitions['loop'] === undefined) {
    definitions['loop'] = true;
    definitions['loop'] = typeSchema(type.lazy(), {}, definitions);
  }
  return '#/definitions/loop';
}
