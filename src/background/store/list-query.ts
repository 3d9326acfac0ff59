import { parseLabelQuery } from '../../expression/label-query.ts';
import { compileWildcard } from '../../expression/wildcard.ts';
import type { JsonObject } from '../../json/value.ts';
import { resourceOf } from '../../policy/resource-name.ts';
import { refOf, stringLabelsOf } from '../object-identity.ts';
import { type ListQuery, StoreError } from '../ports.ts';

/** Compiles a query into a test for objects. */
export function compileQuery(query: ListQuery): (object: JsonObject) => boolean {
  const apiVersion = compileWildcard(query.apiVersion === '' ? '*' : query.apiVersion);
  const kind = compileWildcard(query.kind);
  const resource = query.resource === undefined ? undefined : compileWildcard(query.resource);
  const labels = query.labelSelector === undefined ? () => true : parseLabelQuery(query.labelSelector);
  if (labels === undefined) {
    throw new StoreError('invalid', `invalid label selector ${query.labelSelector}`);
  }
  return (object) => {
    const ref = refOf(object);
    return (
      apiVersion.matches(ref.apiVersion) &&
      kind.matches(ref.kind) &&
      (resource === undefined || resource.matches(resourceOf(ref.kind))) &&
      (query.namespace === undefined || query.namespace === ref.namespace) &&
      labels(stringLabelsOf(object))
    );
  };
}
