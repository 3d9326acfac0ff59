import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy, CompiledRuleHead, KindSelector } from '../../policy/compiled.ts';
import type { ListQuery, ObjectReader } from '../ports.ts';

/** Lists all objects of the kinds that a rule matches. */
export async function listTriggers(
  reader: Pick<ObjectReader, 'list'>,
  policy: CompiledPolicy,
  { match }: Pick<CompiledRuleHead, 'match'>,
): Promise<readonly JsonObject[]> {
  const blocks = match.any ?? match.all?.slice(0, 1) ?? [];
  const selectors = new Map(blocks.flatMap(({ kinds = [] }) => kinds).map((kind) => [kind.text, kind]));
  const found = new Set<JsonObject>();
  for (const selector of selectors.values()) {
    if (selector.subresource.pattern !== '') continue;
    for (const object of await reader.list({ ...queryOf(selector), namespace: policy.namespace }))
      found.add(object);
  }
  return [...found];
}

/** What to list for a selector. */
export function queryOf({ group, version, kind, resource }: KindSelector): ListQuery {
  const prefix = group.pattern === '' ? '' : `${group.pattern}/`;
  const apiVersion = group.pattern === '*' ? '*' : `${prefix}${version.pattern}`;
  return { apiVersion, kind: kind.pattern, resource: resource?.pattern };
}
