import { parseIndex } from '../../json/list-index.ts';
import type { Operation } from '../../json/patch/operation.ts';
import { isArray, isObject, type Json } from '../../json/value.ts';
import type { PatchNode } from './node.ts';

/** `mutate.patches` of v1alpha1 is a list in the document itself, not a string. */
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
 * the items of the list are inserted there, in order.
 */
export function readTrailingSlash(operation: Operation): readonly Operation[] {
  if (operation.path.length < 2 || operation.path.at(-1) !== '') return [operation];
  const path = operation.path.slice(0, -1);
  const location = path.at(-1) ?? '';
  const index = location === '-' ? -1 : parseIndex(location, true);
  if (operation.op !== 'add' || index === undefined || !isArray(operation.value)) {
    return [{ ...operation, path }];
  }
  return operation.value.map((value, offset) => {
    // `-` always appends, whatever was inserted before.
    const token = index < 0 ? location : String(index + offset);
    return { op: 'add', path: [...path.slice(0, -1), token], value };
  });
}
