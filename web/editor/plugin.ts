import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { functionExample, functionSignature } from '../../src/expression/functions/function-text.ts';
import { functionTable } from '../../src/expression/functions/table.ts';
import type { Shape } from '../../src/kustomize/kustomization/decode.ts';
import { kustomizationShape } from '../../src/kustomize/kustomization/kustomization-shape.ts';
import type { FunctionReference } from './reference.ts';
import type { Schema } from './schema.ts';

const name = 'virtual:reference';
const resolved = `\0${name}`;

/** Bundles the descriptions of functions and the schema of policies as the module `virtual:reference`. */
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
  const schema = JSON.stringify({ ...policies, definitions });
  return `export const functions = ${JSON.stringify(functionReferences())};
export const schema = JSON.parse(${JSON.stringify(schema)});`;
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

function functionReferences(): FunctionReference[] {
  return [...functionTable.values()].map((one) => {
    const { expression, result, data } = functionExample(one);
    return {
      name: one.name,
      signature: functionSignature(one),
      description: one.description,
      example: `${expression}\n→ ${result}${data === undefined ? '' : `\nwith ${data}`}`,
    };
  });
}
