import { parseLabelQuery } from '../../expression/label-query.ts';
import { compileWildcard } from '../../expression/wildcard.ts';
import type { JsonObject } from '../../json/value.ts';
import { labelsOf, refOf } from '../object-identity.ts';
import { type ListQuery, StoreError } from '../ports.ts';

/** Whether a query is about an object. */
export function compileQuery(query: ListQuery): (object: JsonObject) => boolean {
  const apiVersion = compileWildcard(query.apiVersion === '' ? '*' : query.apiVersion);
  const kind = compileWildcard(query.kind);
  const labels = query.labelSelector === undefined ? () => true : parseLabelQuery(query.labelSelector);
  if (labels === undefined) {
    throw new StoreError('invalid', `the label selector ${query.labelSelector} cannot be read`);
  }
  return (object) => {
    const ref = refOf(object);
    return (
      apiVersion.matches(ref.apiVersion) &&
      kind.matches(ref.kind) &&
      (query.namespace === undefined || query.namespace === ref.namespace) &&
      labels(labelsOf(object))
    );
  };
}
