import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import { KustomizeError } from '../kustomize-error.ts';

interface Place {
  /** As written, for messages. */
  readonly pointer: string;
  readonly path: readonly string[];
}

export type JsonPatchOperation =
  | (Place & { readonly op: 'add' | 'replace' | 'test'; readonly value: Json })
  | (Place & { readonly op: 'remove' })
  | (Place & { readonly op: 'move' | 'copy'; readonly from: readonly string[] });

/** Checks the operations of a JSON patch. */
export function readJsonPatch(patch: Json): readonly JsonPatchOperation[] {
  if (!isArray(patch)) throw invalid('a JSON patch is a list of operations');
  return patch.map((item, index) => {
    if (!isObject(item)) throw invalid(`operation [${index}] is not a map`);
    return readOperation(item, index);
  });
}

function readOperation(item: JsonObject, index: number): JsonPatchOperation {
  const op = member(item, 'op');
  const pointer = member(item, 'path');
  if (typeof pointer !== 'string') throw invalid(`operation [${index}] has no path`);
  const place = { pointer, path: readPointer(pointer, index) };
  switch (op) {
    case 'add':
    case 'replace':
    case 'test':
      return { ...place, op, value: member(item, 'value') ?? null };
    case 'remove':
      return { ...place, op };
    case 'move':
    case 'copy': {
      const from = member(item, 'from');
      if (typeof from !== 'string') throw invalid(`operation [${index}] ${op} has no from`);
      return { ...place, op, from: readPointer(from, index) };
    }
    default:
      throw invalid(`operation [${index}] has an unknown op: ${JSON.stringify(op ?? null)}`);
  }
}

function readPointer(pointer: string, index: number): readonly string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) {
    throw invalid(`the path '${pointer}' of operation [${index}] does not start with a slash`);
  }
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function invalid(message: string): KustomizeError {
  return new KustomizeError('KYM_KUSTOMIZE_PATCH', message);
}
