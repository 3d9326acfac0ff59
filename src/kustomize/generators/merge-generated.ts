import { setMember } from '../../json/edit.ts';
import { isObject, type JsonObject, member } from '../../json/value.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { currentId, describeId, type Resource } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';

/** Adds a generated resource: as a new one, or over the one that has or had its id. */
export function mergeGenerated(set: ResourceSet, resource: Resource): void {
  const id = currentId(resource);
  const matches = set.withAnyId(id);
  const overlays = resource.behavior === 'merge' || resource.behavior === 'replace';
  const [old] = matches;
  if (old === undefined) {
    if (!overlays) {
      set.add(resource);
      return;
    }
    throw new KustomizeError(
      'KYM_KUSTOMIZE_GENERATOR',
      `${describeId(id)} does not exist, so there is nothing to ${resource.behavior}`,
    );
  }
  if (matches.length > 1) {
    throw new KustomizeError(
      'KYM_KUSTOMIZE_GENERATOR',
      `${describeId(id)} is the id of ${matches.length} resources; one is needed to ${resource.behavior}`,
    );
  }
  if (!overlays) {
    throw new KustomizeError(
      'KYM_KUSTOMIZE_DUPLICATE',
      `${describeId(id)} exists already; a generator changes it with behavior merge or replace`,
    );
  }
  const object = overlaid(old.object, resource.object, resource.behavior === 'merge');
  const origin = resource.behavior === 'merge' ? (old.origin ?? resource.origin) : resource.origin;
  const needsHash = old.needsHash && resource.needsHash;
  set.update(old, object, { needsHash, behavior: resource.behavior, origin });
}

/** The new resource with the name and namespace of the old one, and its labels and annotations below its own. */
function overlaid(old: JsonObject, fresh: JsonObject, isMerge: boolean): JsonObject {
  const before = mapAt(old, 'metadata');
  const metadata = (['labels', 'annotations'] as const).reduce<JsonObject>(
    (result, field) => withMerged(result, before, field),
    { ...mapAt(fresh, 'metadata') },
  );
  const named = (['name', 'namespace'] as const).reduce<JsonObject>((result, field) => {
    const value = member(before, field);
    return value === undefined ? result : setMember(result, field, value);
  }, metadata);
  const result = setMember(fresh, 'metadata', named);
  if (!isMerge) return result;
  return (['data', 'binaryData'] as const).reduce<JsonObject>(
    (merged, field) => withMerged(merged, old, field),
    result,
  );
}

function withMerged(target: JsonObject, source: JsonObject, field: string): JsonObject {
  const merged = { ...mapAt(source, field), ...mapAt(target, field) };
  return Object.keys(merged).length === 0 ? target : setMember(target, field, merged);
}

function mapAt(object: JsonObject, field: string): JsonObject {
  const value = member(object, field);
  return isObject(value) ? value : {};
}
