import { readObject, readObjects, readText } from '../json/read-field.ts';
import type { JsonObject } from '../json/value.ts';

/** The objects of a ClusterResource document of Kyverno's command line; any other object is itself. */
export function clusterObjects(document: JsonObject): readonly JsonObject[] {
  const isList =
    readText(document, 'kind') === 'ClusterResource' &&
    (readText(document, 'apiVersion') ?? '').startsWith('cli.kyverno.io/');
  return isList ? readObjects(readObject(document, 'spec') ?? {}, 'resources') : [document];
}
