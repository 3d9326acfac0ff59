import { parseIndex } from '../../json/list-index.ts';
import type { Operation } from '../../json/patch/operation.ts';
import { isArray, isObject, type Json } from '../../json/value.ts';
import type { PatchNode } from './node.ts';

/** `mutate.patches` of v1alpha1 is a list in the document itself, not text. */
export function nodeOfDocument(value: Json): PatchNode {
  if (typeof value === 'string') {
    return value.includes('{{')
      ? { type: 'template', text: value, reading: 'typed' }
      : { type: 'constant', value };
  }
  if (isArray(value)) return { type: 'list', items: value.map(nodeOfDocument) };
  if (!isObject(value)) return { type: 'constant', value };
  return {
    type: 'map',
    entries: Object.entries(value).map(([key, child]) => ({
      key: { type: 'constant', value: key },
      value: nodeOfDocument(child),
    })),
  };
}

/**
 * A trailing slash is tolerated. After an index, with a list as value (the sidecar example of the v1alpha1 documents),
 * it means: insert the items of the list there, in their order.
 */
export function readTrailingSlash(operation: Operation): readonly Operation[] {
  if (operation.path.length < 2 || operation.path.at(-1) !== '') return [operation];
  const path = operation.path.slice(0, -1);
  const place = path.at(-1) ?? '';
  const index = place === '-' ? -1 : parseIndex(place, true);
  if (operation.op !== 'add' || index === undefined || !isArray(operation.value)) {
    return [{ ...operation, path }];
  }
  return operation.value.map((value, offset) => {
    // Counted from the end, the place stays the same while the items before it grow.
    const token = index < 0 ? place : String(index + offset);
    return { op: 'add', path: [...path.slice(0, -1), token], value };
  });
}
