import { Document, isMap, isScalar, isSeq, type Node, Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import { findVariables } from '../../expression/template/tokens.ts';
import { parseIndex } from '../../json/list-index.ts';
import { isArray, isObject, type Json, type JsonArray, type Path } from '../../json/value.ts';
import { pairOf, textAt } from '../../yaml/nodes.ts';
import type { Obstacle } from './overlay.ts';

/** Why `mutate.patches` cannot be the text of patchesJson6902; undefined when it can. */
export function patchesObstacle(patches: JsonArray): Obstacle | undefined {
  for (const [index, operation] of patches.entries()) {
    if (!isObject(operation)) return { path: [index], reason: 'it is no operation' };
    const { op, path, value } = operation;
    if (typeof path === 'string' && path.includes('{{')) {
      return { path: [index, 'path'], reason: 'a path with variables can only stand in a foreach there' };
    }
    if (op === 'remove' && typeof path === 'string' && /\/-\/?$/.test(path)) {
      return { path: [index, 'path'], reason: 'removing the item - is passed over here, but fails there' };
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
    return { path, reason: 'a variable keeps its type here, but is read as text there' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const members = isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [key, child] of members) {
    if (typeof key === 'string' && key.includes('{{')) return { path, reason: 'a key holds a variable' };
    const found = variableObstacle(child as Json, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The operations as a block of text, with their comments. */
export function patchesAsText(patches: YAMLSeq, indentSeq: boolean): Scalar {
  patches.items = patches.items.flatMap((item) => (isMap(item) ? withoutTrailingSlash(item) : [item]));
  quoteVariables(patches);
  const document = new Document(null, { schema: 'failsafe' });
  document.contents = patches as never;
  const scalar = new Scalar(document.toString({ lineWidth: 0, indentSeq, flowCollectionPadding: false }));
  scalar.type = 'BLOCK_LITERAL';
  return scalar;
}

/** After an index, with a list as value, a trailing slash inserts the items one by one; else it is dropped. */
function withoutTrailingSlash(operation: YAMLMap): YAMLMap[] {
  const path = textAt(operation, 'path') ?? '';
  if (!path.endsWith('/') || path === '/') return [operation];
  const short = path.slice(0, -1);
  const place = short.slice(short.lastIndexOf('/') + 1);
  const index = place === '-' ? -1 : parseIndex(place, true);
  const value = pairOf(operation, 'value')?.value;
  if (textAt(operation, 'op') !== 'add' || index === undefined || !isSeq(value)) {
    return [withMembers(operation, { path: new Scalar(short) })];
  }
  const parent = short.slice(0, short.lastIndexOf('/') + 1);
  return value.items.map((item, offset) =>
    withMembers(operation, {
      path: new Scalar(`${parent}${index < 0 ? place : index + offset}`),
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

/** Unquoted text is read by type once its variables are filled in; in the list it was text. */
function quoteVariables(node: Node): void {
  if (isScalar(node)) {
    if (typeof node.value === 'string' && node.value.includes('{{') && node.type === 'PLAIN')
      node.type = 'QUOTE_DOUBLE';
  } else if (isSeq(node)) for (const item of node.items) quoteVariables(item as Node);
  else if (isMap(node))
    for (const pair of node.items) if (pair.value !== null) quoteVariables(pair.value as Node);
}
