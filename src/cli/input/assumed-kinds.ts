import { createKindTable, type KindTable } from '../../cluster/api/discovery.ts';
import type { ServedKind } from '../../cluster/api/discovery-document.ts';
import { mergeKinds } from '../../patch/generated/merge-types.ts';
import { clusterScopedKinds } from '../../policy/cluster-scoped-kinds.ts';
import type { CompiledPolicy, KindSelector } from '../../policy/compiled.ts';
import { resourceOf } from '../../policy/resource-name.ts';

const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
const scaled = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController']);
const podSubresources = [
  'attach',
  'binding',
  'ephemeralcontainers',
  'eviction',
  'exec',
  'portforward',
  'proxy',
  'resize',
  'status',
];

/** The kinds that a cluster is assumed to serve when there is none: built-in kinds, and kinds that policies name literally. */
export function assumedKinds(policies: readonly CompiledPolicy[]): KindTable {
  const kinds = new Map<string, ServedKind>();
  for (const name of Object.keys(mergeKinds)) {
    const [kind = '', version = '', group = ''] = name.split('/').reverse();
    if (isServedToday(group, version, kind)) kinds.set(name, servedKind(group, version, kind));
  }
  for (const { group, version, kind } of spelledOut(policies)) {
    const name = `${group}/${version}/${kind}`;
    if (!kinds.has(name)) kinds.set(name, servedKind(group, version, kind));
  }
  return createKindTable([...kinds.values()]);
}

/** The table also lists API versions that were removed long ago. */
function isServedToday(group: string, version: string, kind: string): boolean {
  if (group === 'extensions') return false;
  return !/alpha|beta/.test(version) || !Object.hasOwn(mergeKinds, `${group}/v1/${kind}`);
}

function servedKind(group: string, version: string, kind: string): ServedKind {
  return {
    group,
    version,
    kind,
    resource: resourceOf(kind),
    namespaced: !clusterScopedKinds.has(kind),
    subresources: kind === 'Pod' ? podSubresources : scaled.has(kind) ? ['scale', 'status'] : ['status'],
    verbs,
  };
}

function* spelledOut(policies: readonly CompiledPolicy[]) {
  for (const policy of policies) {
    for (const { match } of policy.rules) {
      for (const block of match.any ?? match.all ?? []) {
        for (const selector of block.kinds ?? []) if (isSpelledOut(selector)) yield namesOf(selector);
      }
    }
  }
}

function isSpelledOut({ group, version, kind }: KindSelector): boolean {
  return group.literal && version.literal && kind.literal;
}

function namesOf({ group, version, kind }: KindSelector) {
  return { group: group.pattern, version: version.pattern, kind: kind.pattern };
}
