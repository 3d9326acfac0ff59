import { parseAllDocuments, visit } from 'yaml';
import { spendBytes, spendSteps } from '../json/budget.ts';
import type { Json } from '../json/value.ts';
import { yamlDepthBound } from './depth.ts';
import { resolveYamlScalar } from './scalar.ts';

const deepest = 250;

/** Parses the first document of a YAML string, with plain scalars as Kubernetes reads them. */
export function parseYamlText(text: string): Json {
  chargeParsing(text);
  if (yamlDepthBound(text) > deepest) throw new Error(`the YAML nests deeper than ${deepest} levels`);
  const [document] = parseAllDocuments(text, {
    schema: 'failsafe',
    merge: true,
    stringKeys: true,
    logLevel: 'silent',
  });
  if (document === undefined) return null;
  const [problem] = document.errors;
  if (problem !== undefined) throw new Error(`yaml: ${problem.message.split('\n')[0]}`);
  visit(document, {
    Alias: (_key, node, path) => {
      const target = node.resolve(document);
      if (target !== undefined && path.includes(target))
        throw new Error(`yaml: anchor '${node.source}' contains itself`);
    },
    Scalar: (_key, node) => {
      if (node.type === 'PLAIN' && node.tag === undefined) node.value = resolveYamlScalar(node.source ?? '');
    },
  });
  return (document.toJS({ maxAliasCount: 100 }) as Json | undefined) ?? null;
}

/** The parser builds a syntax tree, and looks through all of it for each alias. */
function chargeParsing(text: string): void {
  spendSteps(text.length << 4);
  spendBytes(text.length * 50);
  if (text.includes('*')) spendSteps((text.split('*').length - 1) * (text.length >> 3));
}
