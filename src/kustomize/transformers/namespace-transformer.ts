import { setMember } from '../../json/edit.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import { changeFields, isSelected } from '../fields/field-spec-apply.ts';
import type { FieldSpec } from '../kustomization/kustomization.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { isClusterScoped } from '../resource/cluster-scope.ts';
import { currentId, describeId, idOf } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';

export type SubjectMode = 'defaultOnly' | 'allServiceAccounts' | 'none';

export interface NamespaceSettings {
  readonly namespace: string;
  readonly specs: readonly FieldSpec[];
  /** Set it only on resources without a namespace. */
  readonly unsetOnly?: boolean | undefined;
  readonly subjects?: SubjectMode | undefined;
}

/** Sets the namespace of all namespaced resources, and of fields that contain it. */
export function setNamespace(set: ResourceSet, settings: NamespaceSettings): void {
  for (const resource of set.list()) {
    // As in kustomize, the namespace of a chart is that of its release.
    if (resource.fromChart === true) continue;
    set.rememberId(resource);
    set.update(resource, inNamespace(resource.object, settings));
    const id = currentId(resource);
    if (set.withCurrentId(id).length > 1) {
      throw new KustomizeError(
        'KYM_KUSTOMIZE_DUPLICATE',
        `with the namespace "${settings.namespace}" two resources have the same id: ${describeId(id)}`,
      );
    }
  }
}

export function inNamespace(object: JsonObject, settings: NamespaceSettings): JsonObject {
  const id = idOf(object);
  const write = (value: Json): Json =>
    settings.unsetOnly === true && value !== '' && value !== null ? value : settings.namespace;
  let result = object;
  if (!isClusterScoped(id)) {
    result = changeFields(result, { path: 'metadata/namespace', create: true }, 'scalar', write);
  }
  const isBinding = id.kind === 'RoleBinding' || id.kind === 'ClusterRoleBinding';
  if (isBinding) result = changeSubjects(result, settings.subjects ?? 'defaultOnly', write);
  for (const spec of settings.specs) {
    if (!isSelected(id, spec) || spec.path === 'metadata/namespace') continue;
    if (spec.path === 'metadata/name' && member(object, 'apiVersion') !== 'v1') continue;
    if (isBinding && spec.path === 'subjects/namespace' && spec.kind === id.kind) continue;
    result = changeFields(result, spec, 'scalar', write);
  }
  return result;
}

/** Other subjects change with their ServiceAccount when references are updated. */
function changeSubjects(object: JsonObject, mode: SubjectMode, write: (value: Json) => Json): JsonObject {
  const subjects = member(object, 'subjects');
  if (mode === 'none' || !isArray(subjects)) return object;
  const [field, wanted] = mode === 'defaultOnly' ? ['name', 'default'] : ['kind', 'ServiceAccount'];
  const changed = subjects.map((subject) =>
    isObject(subject) && member(subject, field as string) === wanted
      ? setMember(subject, 'namespace', write(member(subject, 'namespace') ?? ''))
      : subject,
  );
  return setMember(object, 'subjects', changed);
}
