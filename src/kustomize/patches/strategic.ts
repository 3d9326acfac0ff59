import { assignMember, copyMembers, removeMember, setMember } from '../../json/edit.ts';
import { isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { BuildContext } from '../build-context.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { describeId, originalId, type Resource } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';
import { mergeKustomizePatch } from './merge.ts';

export interface PatchOptions {
  readonly allowNameChange?: boolean | undefined;
  readonly allowKindChange?: boolean | undefined;
}

/** Finds the resource with the id of a patch without target, among current and earlier ids. */
export function findPatchTarget(set: ResourceSet, patch: Resource): Resource {
  const id = originalId(patch);
  const [target, ...others] = set.withAnyId(id);
  if (target !== undefined && others.length === 0) return target;
  const what = target === undefined ? 'no resource matches' : `${others.length + 1} resources match`;
  throw new KustomizeError(
    'KYM_KUSTOMIZE_NO_TARGET',
    `${what} the strategic merge patch ${describeId(id)}${id.version === '' ? ', which has no apiVersion' : ''}`,
    { hint: 'Group, version, kind, name and namespace must match. Use a target to select by fewer fields.' },
  );
}

/** Merges a patch into a resource, or removes the resource if the patch deletes it. */
export function applyStrategicPatch(
  set: ResourceSet,
  resource: Resource,
  patch: JsonObject,
  options: PatchOptions,
  context: BuildContext,
): void {
  const { object } = resource;
  const { apiVersion, kind } = object;
  if (options.allowNameChange === true || options.allowKindChange === true) set.rememberId(resource);
  const schema =
    typeof apiVersion === 'string' && typeof kind === 'string'
      ? context.mergeSchema(apiVersion, kind)
      : undefined;
  const merged = mergeKustomizePatch(object, withoutIdentity(patch, options), schema);
  if (merged === undefined) set.remove(resource);
  else if (merged !== object) set.update(resource, merged);
}

/** Removes the identity fields of a patch, unless the options allow changing them. */
function withoutIdentity(patch: JsonObject, options: PatchOptions): JsonObject {
  let result = removeMember(patch, 'apiVersion');
  if (options.allowKindChange !== true) result = removeMember(result, 'kind');
  const metadata = member(result, 'metadata');
  if (!isObject(metadata)) return result;
  const unwanted = options.allowNameChange === true ? ['namespace'] : ['name', 'namespace'];
  const kept = copyMembers({});
  for (const [key, value] of Object.entries(metadata)) {
    if (!unwanted.includes(key)) assignMember(kept, key, value as Json);
  }
  return Object.keys(kept).length === 0
    ? removeMember(result, 'metadata')
    : setMember(result, 'metadata', kept);
}
