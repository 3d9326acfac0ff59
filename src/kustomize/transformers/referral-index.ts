import {
  clusterScope,
  currentId,
  effectiveNamespace,
  originalId,
  type Resource,
} from '../resource/resource.ts';

/** Finds resources by what they were called, so that fixing references does not compare all with all. */
export interface ReferralIndex {
  /** No resource was ever renamed. */
  readonly isEmpty: boolean;
  withPreviousName(name: string): readonly Resource[];
  /**
   * Which resources a stated namespace means: those that were loaded from it, or, when there are none in reach, those
   * that are in it now.
   */
  inNamespace(namespace: string, inReach: (candidate: Resource) => boolean): (candidate: Resource) => boolean;
}

export function createReferralIndex(resources: readonly Resource[]): ReferralIndex {
  const byName = new Map<string, Resource[]>();
  const byOriginalNamespace = new Map<string, Resource[]>();
  for (const resource of resources) {
    for (const name of new Set(resource.previousIds.map((id) => id.name))) put(byName, name, resource);
    const namespace = effectiveNamespace(originalId(resource));
    if (namespace !== clusterScope) put(byOriginalNamespace, namespace, resource);
  }
  return {
    isEmpty: byName.size === 0,
    withPreviousName: (name) => byName.get(name) ?? [],
    inNamespace: (namespace, inReach) => {
      if (byOriginalNamespace.get(namespace)?.some(inReach) === true) {
        return (candidate) => effectiveNamespace(originalId(candidate)) === namespace;
      }
      return (candidate) => effectiveNamespace(currentId(candidate)) === namespace;
    },
  };
}

function put(index: Map<string, Resource[]>, key: string, resource: Resource): void {
  const entry = index.get(key);
  if (entry === undefined) index.set(key, [resource]);
  else entry.push(resource);
}

/** Whether two resources went through the same layers of prefixes and suffixes. */
export function sameLayers(left: Resource, right: Resource, allowEmpty: boolean): boolean {
  return (
    sameEnd(left.prefixes, right.prefixes, allowEmpty) && sameEnd(left.suffixes, right.suffixes, allowEmpty)
  );
}

function sameEnd(left: readonly string[], right: readonly string[], allowEmpty: boolean): boolean {
  if (left.length === 0 || right.length === 0) return allowEmpty || left.length === right.length;
  const length = Math.min(left.length, right.length);
  const end = left.slice(-length);
  const other = right.slice(-length);
  return end.every((layer, index) => layer === other[index]);
}
