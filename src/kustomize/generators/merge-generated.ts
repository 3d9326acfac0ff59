import { setMember } from '../../json/edit.ts';
import { isObject, type JsonObject, member } from '../../json/value.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { currentId, describeId, type Resource } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';

/** Adds a generated resource, or merges it into the resource that has or had its id. */
export function mergeGenerated(set: ResourceSet, resource: Resource): void {
  const id = currentId(resource);
  const matches = set.withAnyId(id);
  const changesExisting = resource.behavior === 'merge' || resource.behavior === 'replace';
  const [old] = matches;
  if (old === undefined) {
    if (!changesExisting) {
      set.add(resource);
      return;
    }
    throw new KustomizeError(
      'KYM_KUSTOMIZE_GENERATOR',
      `${describeId(id)} does not exist and cannot be the target of behavior ${resource.behavior}`,
    );
  }
  if (matches.length > 1) {
    throw new KustomizeError(
      'KYM_KUSTOMIZE_GENERATOR',
      `${describeId(id)} matches ${matches.length} resources; behavior ${resource.behavior} needs exactly one`,
    );
  }
  if (!changesExisting) {
    throw new KustomizeError(
      'KYM_KUSTOMIZE_DUPLICATE',
      `${describeId(id)} already exists; use behavior merge or replace to change it`,
    );
  }
  const object = merged(old.object, resource.object, resource.behavior === 'merge');
  const origin = resource.behavior === 'merge' ? (old.origin ?? resource.origin) : resource.origin;
  const needsHash = old.needsHash && resource.needsHash;
  set.update(old, object, { needsHash, behavior: resource.behavior, origin });
}

/** The new resource with the name, namespace, labels and annotations of the old one. New labels and annotations win. */
function merged(old: JsonObject, fresh: JsonObject, isMerge: boolean): JsonObject {
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
    (object, field) => withMerged(object, old, field),
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
