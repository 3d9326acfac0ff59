import { Document, isMap, isScalar, isSeq, type Node, Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import { findVariables } from '../../expression/template/tokens.ts';
import { parseIndex } from '../../json/list-index.ts';
import { isArray, isObject, type Json, type JsonArray, type Path } from '../../json/value.ts';
import { pairOf, textAt } from '../../yaml/nodes.ts';
import type { Obstacle } from './overlay.ts';

/** The reason why `mutate.patches` cannot become patchesJson6902; undefined when it can. */
export function patchesObstacle(patches: JsonArray): Obstacle | undefined {
  for (const [index, operation] of patches.entries()) {
    if (!isObject(operation)) return { path: [index], reason: 'it is not an operation' };
    const { op, path, value } = operation;
    if (typeof path === 'string' && path.includes('{{')) {
      return {
        path: [index, 'path'],
        reason: 'patchesJson6902 allows a path with variables only in a foreach',
      };
    }
    if (op === 'remove' && typeof path === 'string' && /\/-\/?$/.test(path)) {
      return {
        path: [index, 'path'],
        reason: 'removing the item - is ignored by patches, but fails in patchesJson6902',
      };
    }
    const found = variableObstacle(value ?? null, [index, 'value']);
    if (found !== undefined) return found;
  }
  return undefined;
}

function variableObstacle(value: Json, path: Path): Obstacle | undefined {
  if (typeof value === 'string') {
    const [variable] = findVariables(value);
    const isWhole = variable?.start === 0 && variable.end === value.length;
    if (!isWhole && !value.includes('\\{{')) return undefined;
    return { path, reason: 'a variable keeps its type in patches, but is a string in patchesJson6902' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const members = isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [key, child] of members) {
    if (typeof key === 'string' && key.includes('{{')) return { path, reason: 'a key contains a variable' };
    const found = variableObstacle(child as Json, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The operations as a block scalar, with their comments. */
export function patchesAsText(patches: YAMLSeq, indentSeq: boolean): Scalar {
  patches.items = patches.items.flatMap((item) => (isMap(item) ? withoutTrailingSlash(item) : [item]));
  quoteVariables(patches);
  const document = new Document(null, { schema: 'failsafe' });
  document.contents = patches as never;
  const scalar = new Scalar(document.toString({ lineWidth: 0, indentSeq, flowCollectionPadding: false }));
  scalar.type = 'BLOCK_LITERAL';
  return scalar;
}

/** A trailing slash after an index inserts the items of a list value one by one. Otherwise it is dropped. */
function withoutTrailingSlash(operation: YAMLMap): YAMLMap[] {
  const path = textAt(operation, 'path') ?? '';
  if (!path.endsWith('/') || path === '/') return [operation];
  const short = path.slice(0, -1);
  const last = short.slice(short.lastIndexOf('/') + 1);
  const index = last === '-' ? -1 : parseIndex(last, true);
  const value = pairOf(operation, 'value')?.value;
  if (textAt(operation, 'op') !== 'add' || index === undefined || !isSeq(value)) {
    return [withMembers(operation, { path: new Scalar(short) })];
  }
  const parent = short.slice(0, short.lastIndexOf('/') + 1);
  return value.items.map((item, offset) =>
    withMembers(operation, {
      path: new Scalar(`${parent}${index < 0 ? last : index + offset}`),
      value: item as Node,
    }),
  );
}

function withMembers(operation: YAMLMap, members: Readonly<Record<string, Node>>): YAMLMap {
  const copy = operation.clone() as YAMLMap;
  for (const [key, value] of Object.entries(members)) {
    const pair = pairOf(copy, key);
    if (pair !== undefined) pair.value = value;
  }
  return copy;
}

/** Quotes strings with variables: after substitution, an unquoted scalar could become another type. */
function quoteVariables(node: Node): void {
  if (isScalar(node)) {
    if (typeof node.value === 'string' && node.value.includes('{{') && node.type === 'PLAIN')
      node.type = 'QUOTE_DOUBLE';
  } else if (isSeq(node)) for (const item of node.items) quoteVariables(item as Node);
  else if (isMap(node))
    for (const pair of node.items) if (pair.value !== null) quoteVariables(pair.value as Node);
}
