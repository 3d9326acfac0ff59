import type { JsonObject } from '../../json/value.ts';
import type { BuildContext } from '../build-context.ts';
import { mergeGenerated } from '../generators/merge-generated.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { createResource, currentId, describeId, idKey, idOf, type Resource } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';
import { generatorRequest, withoutBuildAnnotations } from './annotations.ts';

/** Parses the resources in plugin output. */
export function readOutput(output: string, title: string, context: BuildContext): readonly JsonObject[] {
  try {
    return context.parseResources(output, title).map((resource) => resource.object);
  } catch (error) {
    if (!(error instanceof KustomizeError)) throw error;
    throw new KustomizeError('KYM_PLUGIN_OUTPUT', `${title} printed an invalid resource: ${error.message}`);
  }
}

/** Adds generated resources. */
export function addGenerated(
  set: ResourceSet,
  objects: readonly JsonObject[],
  more: Partial<Resource> = {},
): void {
  for (const generated of objects) {
    const { object, ...request } = generatorRequest(generated);
    mergeGenerated(set, createResource(object, { ...more, ...request }));
  }
}

/** Applies transformer output by id: existing resources are updated, new ones added, missing ones removed. */
export function replaceById(set: ResourceSet, objects: readonly JsonObject[], title: string): void {
  const seen = new Set<string>();
  for (const printed of objects) {
    const object = withoutBuildAnnotations(printed);
    const id = idOf(object);
    const key = idKey(id);
    if (seen.has(key)) {
      throw new KustomizeError(
        'KYM_PLUGIN_OUTPUT',
        `${title} printed a duplicate resource: ${describeId(id)}`,
      );
    }
    seen.add(key);
    const [old] = set.withCurrentId(id);
    if (old === undefined) set.add(createResource(object));
    else set.update(old, object);
  }
  for (const resource of set.list()) {
    if (!seen.has(idKey(currentId(resource)))) set.remove(resource);
  }
}
