import type { JsonObject } from '../../json/value.ts';
import { PatchError } from '../../patch/compiled-patch.ts';
import { builtInSchema } from '../../patch/structured/built-in.ts';
import { mergeStructured } from '../../patch/structured/merge.ts';
import { anySchema } from '../../patch/structured/schema.ts';
import { refOf } from '../object-identity.ts';
import { type ObjectStore, StoreError } from '../ports.ts';

/**
 * Server-side apply, or its result as far as it is known without the owners of fields: nothing is removed. `before` is the
 * object as it was read.
 */
export async function applyObject(
  store: ObjectStore,
  before: JsonObject | undefined,
  object: JsonObject,
): Promise<JsonObject> {
  if (store.apply !== undefined) return store.apply(object);
  return before === undefined ? store.create(object) : store.update(before, merged(before, object));
}

function merged(before: JsonObject, object: JsonObject): JsonObject {
  const { apiVersion, kind } = refOf(object);
  try {
    return mergeStructured(before, object, builtInSchema(apiVersion, kind) ?? anySchema, {
      atomics: 'replace',
    });
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw new StoreError('invalid', error.message, { cause: error });
  }
}
