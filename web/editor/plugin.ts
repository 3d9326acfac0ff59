import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import type { JsonObject } from '../../src/json/value.ts';
import type { Shape } from '../../src/kustomize/kustomization/decode.ts';
import { kustomizationShape } from '../../src/kustomize/kustomization/kustomization-shape.ts';
import { sharedModule } from '../platform/shared-module.ts';
import type { Schema } from './schema.ts';

const name = 'virtual:reference';
const resolved = `\0${name}`;

/** Bundles the schema of policies and kustomizations as the module `virtual:reference`. */
export function referencePlugin(root: string): Plugin {
  return {
    name: 'kymera-reference',
    resolveId: (id) => (id === name ? resolved : undefined),
    load: (id) => (id === resolved ? moduleText(root) : undefined),
  };
}

function moduleText(root: string): string {
  const policies = JSON.parse(readFileSync(join(root, 'schemas/policy.schema.json'), 'utf8')) as Schema;
  const definitions = { ...policies.definitions, kustomization: shapeSchema(kustomizationShape) };
  return sharedModule({ schema: usedParts({ definitions }) });
}

/** The schema without what the editor does not read. */
function usedParts(schema: Schema): JsonObject {
  const { $ref, type, description, properties, additionalProperties, items, anyOf, oneOf, allOf } = schema;
  const parts = {
    $ref,
    type,
    description,
    enum: schema.enum,
    properties: properties && eachUsed(properties),
    additionalProperties:
      typeof additionalProperties === 'object' ? usedParts(additionalProperties) : undefined,
    items: items && usedParts(items),
    anyOf: anyOf?.map(usedParts),
    oneOf: oneOf?.map(usedParts),
    allOf: allOf?.map(usedParts),
    definitions: schema.definitions && eachUsed(schema.definitions),
  };
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)) as JsonObject;
}

function eachUsed(schemas: Readonly<Record<string, Schema>>): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, usedParts(schema)]));
}

/** The fields of a kustomization as JSON Schema. */
function shapeSchema(shape: Shape): Schema {
  if (typeof shape === 'string')
    return shape === 'any' || shape === 'selector' ? {} : { type: shapeTypes[shape] };
  if ('list' in shape) return { type: 'array', items: shapeSchema(shape.list) };
  if ('map' in shape) return { type: 'object', additionalProperties: shapeSchema(shape.map) };
  if ('oneOf' in shape) return { oneOf: [shapeSchema(shape.oneOf), { items: shapeSchema(shape.oneOf) }] };
  const fields = Object.entries(shape.fields).map(([field, inner]) => [field, shapeSchema(inner)] as const);
  return { type: 'object', properties: Object.fromEntries(fields) };
}

const shapeTypes = { text: 'string', integer: 'integer', boolean: 'boolean' } as const;
