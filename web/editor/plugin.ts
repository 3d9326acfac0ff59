import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { functionExample, functionSignature } from '../../src/expression/functions/function-text.ts';
import { functionTable } from '../../src/expression/functions/table.ts';
import type { FunctionReference } from './reference.ts';

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
  const schema = JSON.stringify(JSON.parse(readFileSync(join(root, 'schemas/policy.schema.json'), 'utf8')));
  return `export const functions = ${JSON.stringify(functionReferences())};
export const schema = JSON.parse(${JSON.stringify(schema)});`;
}

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
