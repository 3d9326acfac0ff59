import type { GroupVersionKind } from '../engine/request.ts';
import { readObject, readText } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';

/** What a CustomResourceDefinition says about its kind. */
export interface CustomKind {
  readonly plural: string | undefined;
  readonly isNamespaced: boolean;
}

/** The custom kinds that are defined among the objects. */
export function customKinds(
  objects: Iterable<JsonObject>,
): (kind: Pick<GroupVersionKind, 'group' | 'kind'>) => CustomKind | undefined {
  const kinds = new Map<string, CustomKind>();
  for (const object of objects) {
    if (readText(object, 'kind') !== 'CustomResourceDefinition') continue;
    const spec = readObject(object, 'spec') ?? {};
    const names = readObject(spec, 'names') ?? {};
    kinds.set(`${readText(spec, 'group') ?? ''}/${readText(names, 'kind') ?? ''}`, {
      plural: readText(names, 'plural'),
      isNamespaced: readText(spec, 'scope') !== 'Cluster',
    });
  }
  return ({ group, kind }) => kinds.get(`${group}/${kind}`);
}
