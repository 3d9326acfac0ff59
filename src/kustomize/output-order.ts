import type { SortOptions } from './kustomization/kustomization.ts';
import { KustomizeError } from './kustomize-error.ts';
import { currentId, type Resource, type ResourceId } from './resource/resource.ts';

const firstKinds = [
  'Namespace',
  'ResourceQuota',
  'StorageClass',
  'CustomResourceDefinition',
  'ServiceAccount',
  'PodSecurityPolicy',
  'Role',
  'ClusterRole',
  'RoleBinding',
  'ClusterRoleBinding',
  'ConfigMap',
  'Secret',
  'Endpoints',
  'Service',
  'LimitRange',
  'PriorityClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Deployment',
  'StatefulSet',
  'CronJob',
  'PodDisruptionBudget',
];
const lastKinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];

export function checkSortOptions(options: SortOptions | undefined, file: string): void {
  const order = options?.order ?? '';
  if (order !== '' && order !== 'fifo' && order !== 'legacy') {
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', 'order must be fifo or legacy', {
      file,
      field: 'sortOptions.order',
    });
  }
  if (options?.legacySortOptions !== undefined && order !== 'legacy') {
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', 'legacySortOptions require order: legacy', {
      file,
      field: 'sortOptions.legacySortOptions',
    });
  }
}

/** Sorts resources for output: by kind, or in load order with `fifo`. */
export function inOutputOrder(
  resources: readonly Resource[],
  options: SortOptions | undefined,
): readonly Resource[] {
  if (options?.order === 'fifo') return resources;
  const own = options?.legacySortOptions;
  const ranks =
    own === undefined
      ? kindRanks(firstKinds, lastKinds)
      : kindRanks(own.orderFirst ?? [], own.orderLast ?? []);
  return resources
    .map((resource) => sortKey(currentId(resource), ranks, resource))
    .sort(
      (left, right) =>
        left.rank - right.rank || compareKinds(left, right) || compareText(left.name, right.name),
    )
    .map(({ resource }) => resource);
}

/** Kinds that come first have negative ranks, kinds that come last positive ones. */
function kindRanks(first: readonly string[], last: readonly string[]): ReadonlyMap<string, number> {
  return new Map([
    ...first.map((kind, index): [string, number] => [kind, index - first.length]),
    ...last.map((kind, index): [string, number] => [kind, index + 1]),
  ]);
}

interface SortKey {
  readonly rank: number;
  readonly kind: string;
  readonly name: string;
  readonly resource: Resource;
}

function sortKey(id: ResourceId, ranks: ReadonlyMap<string, number>, resource: Resource): SortKey {
  return {
    rank: ranks.get(id.kind) ?? 0,
    kind: [id.group || '~G', id.version || '~V', id.kind || '~K'].join('_'),
    name: `${id.namespace || '~X'}|${id.name || '~N'}`,
    resource,
  };
}

/** The core Namespace comes before kinds of other groups with this name. */
function compareKinds(left: SortKey, right: SortKey): number {
  const order = compareText(left.kind, right.kind);
  const namespaces = [left, right].filter(({ kind }) => kind.endsWith('_Namespace'));
  const isReversed = namespaces.length === 2 && namespaces.some(({ kind }) => kind.startsWith('~G_'));
  return isReversed ? -order : order;
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
