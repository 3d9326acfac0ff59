import { refKey, refOf } from '../../background/object-identity.ts';
import { createMemoryStore, type MemoryStore } from '../../background/store/memory-store.ts';
import type { JsonObject } from '../../json/value.ts';
import { titleOf, withDefaultNamespace } from '../../offline/object-identity.ts';
import type { Resource } from '../../offline/resource-documents.ts';
import { resourceRole } from '../../offline/resource-role.ts';
import { InputError, inputError, type Problem } from '../../problem.ts';
import { expandInputs } from '../input/input-paths.ts';
import { readResources } from '../input/resource-reader.ts';
import type { Io } from '../io.ts';

/** The objects of files in a store, and the file of each object. */
export interface FileObjects {
  readonly store: MemoryStore;
  /** By `refKey`. */
  readonly resources: ReadonlyMap<string, Resource>;
  readonly warnings: readonly Problem[];
}

/** Throws InputError for files that cannot be read, and for an object that occurs twice. */
export async function readFileObjects(names: readonly string[], io: Io): Promise<FileObjects> {
  const resources = new Map<string, Resource>();
  const objects: JsonObject[] = [];
  const errors: Problem[] = [];
  const warnings: Problem[] = [];
  for await (const item of readResources(await expandInputs(names, io.cwd), io)) {
    if ('problem' in item) {
      (item.problem.severity === 'error' ? errors : warnings).push(item.problem);
      continue;
    }
    if (resourceRole(item.object) !== 'resource') continue;
    const object = withDefaultNamespace(item.object);
    const key = refKey(refOf(object));
    const other = resources.get(key);
    if (other !== undefined) errors.push(...twice(item, other).problems);
    resources.set(key, item);
    objects.push(object);
  }
  if (errors.length > 0) throw new InputError(errors);
  return { store: createMemoryStore(objects), resources, warnings };
}

function twice({ object, file, line }: Resource, other: Resource): InputError {
  return inputError('KYM_USAGE', `${titleOf(object)} is already defined in ${other.file}:${other.line}`, {
    file,
    line,
    hint: 'an object can occur only once',
  });
}
