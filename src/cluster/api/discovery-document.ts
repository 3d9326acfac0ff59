import { readBoolean, readObject, readObjects, readText, readTexts } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';

/** A kind that the API server serves, in one version. */
export interface ServedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The plural, as in paths. */
  readonly resource: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** Such as `status` and `scale`. */
  readonly subresources: readonly string[];
}

/** Reads an APIGroupDiscoveryList (`apidiscovery.k8s.io`): all groups and versions, the preferred version first. */
export function readAggregated(document: JsonObject): readonly ServedKind[] {
  return readObjects(document, 'items').flatMap((item) => {
    const group = readText(readObject(item, 'metadata') ?? {}, 'name') ?? '';
    return readObjects(item, 'versions').flatMap((version) =>
      readObjects(version, 'resources').map((resource) => ({
        group,
        version: readText(version, 'version') ?? '',
        kind: readText(readObject(resource, 'responseKind') ?? {}, 'kind') ?? '',
        resource: readText(resource, 'resource') ?? '',
        namespaced: readText(resource, 'scope') === 'Namespaced',
        verbs: readTexts(resource, 'verbs'),
        subresources: readObjects(resource, 'subresources').map(
          (subresource) => readText(subresource, 'subresource') ?? '',
        ),
      })),
    );
  });
}

/** Reads an APIResourceList, which older API servers return for each version. */
export function readResourceList(document: JsonObject): readonly ServedKind[] {
  const [versionOrGroup = '', versionOfGroup] = (readText(document, 'groupVersion') ?? '').split('/');
  const group = versionOfGroup === undefined ? '' : versionOrGroup;
  const version = versionOfGroup ?? versionOrGroup;
  const resources = readObjects(document, 'resources');
  const nameOf = (resource: JsonObject) => readText(resource, 'name') ?? '';
  return resources
    .filter((resource) => !nameOf(resource).includes('/'))
    .map((resource) => ({
      group,
      version,
      kind: readText(resource, 'kind') ?? '',
      resource: nameOf(resource),
      namespaced: readBoolean(resource, 'namespaced') ?? false,
      verbs: readTexts(resource, 'verbs'),
      subresources: resources
        .map(nameOf)
        .filter((name) => name.startsWith(`${nameOf(resource)}/`))
        .map((name) => name.slice(nameOf(resource).length + 1)),
    }));
}
