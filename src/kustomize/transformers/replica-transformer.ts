import { changeFields, isSelected } from '../fields/field-spec-apply.ts';
import type { FieldSpec, ReplicaEntry } from '../kustomization/kustomization.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { allIds, type Resource } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';

/** Sets `spec.replicas` of resources that have or had this name. Throws if there is none. */
export function setReplicas(set: ResourceSet, entry: ReplicaEntry, specs: readonly FieldSpec[]): void {
  const name = entry.name ?? '';
  let found = false;
  for (const resource of set.list()) {
    for (const spec of specs) {
      if (!hasName(resource, name, spec)) continue;
      found = true;
      set.update(
        resource,
        changeFields(resource.object, spec, 'scalar', () => entry.count ?? 0),
      );
    }
  }
  if (found) return;
  const kinds = specs.map(({ kind }) => kind).join(', ');
  throw new KustomizeError(
    'KYM_KUSTOMIZE_NO_TARGET',
    `no resource named "${name}" has replicas; searched ${kinds}`,
    { field: 'replicas' },
  );
}

function hasName(resource: Resource, name: string, spec: FieldSpec): boolean {
  return allIds(resource).some((id) => id.name === name && isSelected(id, spec));
}
