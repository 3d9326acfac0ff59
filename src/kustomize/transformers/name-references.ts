import { setMember } from '../../json/edit.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import { changeFields, isSelected } from '../fields/field-spec-apply.ts';
import type { NameBackReference } from '../fields/field-specs.ts';
import type { FieldSpec } from '../kustomization/kustomization.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { isClusterScoped } from '../resource/cluster-scope.ts';
import {
  clusterScope,
  currentId,
  describeId,
  effectiveNamespace,
  originalId,
  type Resource,
} from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';

/** A field that contains the name of another resource. */
interface Reference {
  readonly target: NameBackReference;
  readonly spec: FieldSpec;
}

/** Updates references to resources that were renamed during the build. */
export function fixNameReferences(set: ResourceSet, backReferences: readonly NameBackReference[]): void {
  const index = createReferralIndex(set.list());
  if (index.isEmpty) return;
  const byKind = new Map<string, readonly Reference[]>();
  for (const referrer of set.list()) {
    const id = originalId(referrer);
    const references = byKind.get(id.kind) ?? referencesOf(id.kind, backReferences);
    byKind.set(id.kind, references);
    let object = referrer.object;
    for (const { target, spec } of references) {
      if (!isSelected(id, spec)) continue;
      const finder: Finder = { index, referrer, target, spec };
      object = changeFields(object, spec, undefined, (value) => withCurrentNames(value, finder));
    }
    if (object !== referrer.object) set.update(referrer, object);
  }
}

function referencesOf(kind: string, backReferences: readonly NameBackReference[]): readonly Reference[] {
  return backReferences.flatMap((target) =>
    target.fieldSpecs
      .filter((spec) => (spec.kind ?? '') === '' || spec.kind === kind)
      .map((spec) => ({ target, spec })),
  );
}

interface Finder {
  readonly index: ReferralIndex;
  readonly referrer: Resource;
  readonly target: NameBackReference;
  readonly spec: FieldSpec;
}

function withCurrentNames(value: Json, finder: Finder): Json {
  if (value === null) return value;
  if (isArray(value)) return value.map((item) => withCurrentName(item, finder));
  return withCurrentName(value, finder);
}

function withCurrentName(value: Json, finder: Finder): Json {
  if (isObject(value)) return withNameAndNamespace(value, finder);
  if (value === null || isArray(value)) return value;
  const referral = referralOf(String(value), finder, undefined);
  return referral === undefined ? value : currentId(referral).name;
}

function withNameAndNamespace(map: JsonObject, finder: Finder): JsonObject {
  const name = member(map, 'name');
  if (name === undefined) {
    throw new KustomizeError(
      'KYM_KUSTOMIZE_RESOURCE',
      `${describeId(currentId(finder.referrer))}: ${finder.spec.path} is a reference without a name`,
    );
  }
  const namespace = member(map, 'namespace');
  const referral = referralOf(String(name), finder, namespace === undefined ? undefined : String(namespace));
  if (referral === undefined) return map;
  const current = currentId(referral);
  const named = setMember(map, 'name', current.name);
  return current.namespace === '' ? named : setMember(named, 'namespace', current.namespace);
}

/** The resource that a name refers to; undefined if no resource of the kind had this name. */
function referralOf(name: string, finder: Finder, namespace: string | undefined): Resource | undefined {
  const { index, referrer, target, spec } = finder;
  const named = index.withPreviousName(name);
  if (named.length === 0) return undefined;
  const inReach = reachOf(referrer);
  const inNamespace = namespace === undefined ? undefined : index.inNamespace(namespace, inReach);
  const roleRef = spec.path.endsWith('roleRef/name') ? roleRefKind(referrer.object) : undefined;
  let candidates = named.filter(
    (candidate) =>
      inReach(candidate) &&
      (inNamespace === undefined || inNamespace(candidate)) &&
      candidate.previousIds.some((id) => isSelected(id, target)) &&
      (roleRef === undefined || candidate.previousIds.some((id) => isSelected(id, roleRef))) &&
      isInNamespaceOf(referrer, candidate),
  );
  if (candidates.length <= 1) return candidates[0];
  candidates = candidates.filter((candidate) => sameLayers(candidate, referrer, true));
  if (candidates.length > 1) {
    candidates = candidates.filter((candidate) => sameLayers(candidate, referrer, false));
  }
  const [first] = candidates;
  if (
    first === undefined ||
    candidates.every((candidate) => hasNameOf(candidate, first, namespace !== undefined))
  ) {
    return first;
  }
  throw new KustomizeError(
    'KYM_KUSTOMIZE_NO_TARGET',
    `${describeId(currentId(referrer))}: ${spec.path} refers to "${name}", which could be ${candidates
      .map((candidate) => describeId(currentId(candidate)))
      .join(' or ')}`,
  );
}

function hasNameOf(candidate: Resource, first: Resource, withNamespace: boolean): boolean {
  const left = currentId(candidate);
  const right = currentId(first);
  return left.name === right.name && (!withNamespace || left.namespace === right.namespace);
}

/** A resource can refer to its own namespace, to cluster-scoped resources, and to the namespaces of its subjects. */
function reachOf(referrer: Resource): (candidate: Resource) => boolean {
  const id = currentId(referrer);
  if (isClusterScoped(id)) return () => true;
  const namespaces = id.kind === 'RoleBinding' ? subjectNamespaces(referrer.object) : undefined;
  const own = id.namespace === '' ? 'default' : id.namespace;
  return (candidate) => {
    const other = currentId(candidate);
    return (
      isClusterScoped(other) ||
      (other.namespace === '' ? 'default' : other.namespace) === own ||
      namespaces?.has(other.namespace) === true
    );
  };
}

function isInNamespaceOf(referrer: Resource, candidate: Resource): boolean {
  const own = currentId(referrer);
  const other = currentId(candidate);
  if (isClusterScoped(own) || isClusterScoped(other) || other.kind === 'ServiceAccount') return true;
  return (
    (own.namespace === '' ? 'default' : own.namespace) ===
    (other.namespace === '' ? 'default' : other.namespace)
  );
}

function subjectNamespaces(binding: JsonObject): ReadonlySet<string> {
  const subjects = member(binding, 'subjects');
  const namespaces = (isArray(subjects) ? subjects : [])
    .filter(isObject)
    .filter((subject) => member(subject, 'kind') === 'ServiceAccount')
    .map((subject) => member(subject, 'namespace'))
    .filter((namespace) => typeof namespace === 'string');
  return new Set(namespaces);
}

function roleRefKind(binding: JsonObject): { group: string; kind: string } | undefined {
  const roleRef = member(binding, 'roleRef');
  if (!isObject(roleRef)) return undefined;
  const group = member(roleRef, 'apiGroup');
  const kind = member(roleRef, 'kind');
  return typeof group === 'string' && typeof kind === 'string' ? { group, kind } : undefined;
}

/** Finds resources by earlier names. */
export interface ReferralIndex {
  /** No resource was renamed. */
  readonly isEmpty: boolean;
  withPreviousName(name: string): readonly Resource[];
  /**
   * Resources that were loaded in this namespace, or, if none is in reach, those that are in it now.
   */
  inNamespace(namespace: string, inReach: (candidate: Resource) => boolean): (candidate: Resource) => boolean;
}

export function createReferralIndex(resources: readonly Resource[]): ReferralIndex {
  const byName = new Map<string, Resource[]>();
  const byOriginalNamespace = new Map<string, Resource[]>();
  for (const resource of resources) {
    for (const name of new Set(resource.previousIds.map((id) => id.name))) put(byName, name, resource);
    const namespace = effectiveNamespace(originalId(resource));
    if (namespace !== clusterScope) put(byOriginalNamespace, namespace, resource);
  }
  return {
    isEmpty: byName.size === 0,
    withPreviousName: (name) => byName.get(name) ?? [],
    inNamespace: (namespace, inReach) => {
      if (byOriginalNamespace.get(namespace)?.some(inReach) === true) {
        return (candidate) => effectiveNamespace(originalId(candidate)) === namespace;
      }
      return (candidate) => effectiveNamespace(currentId(candidate)) === namespace;
    },
  };
}

function put(index: Map<string, Resource[]>, key: string, resource: Resource): void {
  const entry = index.get(key);
  if (entry === undefined) index.set(key, [resource]);
  else entry.push(resource);
}

/** Whether two resources have the same prefixes and suffixes. */
export function sameLayers(left: Resource, right: Resource, allowEmpty: boolean): boolean {
  return (
    sameEnd(left.prefixes, right.prefixes, allowEmpty) && sameEnd(left.suffixes, right.suffixes, allowEmpty)
  );
}

function sameEnd(left: readonly string[], right: readonly string[], allowEmpty: boolean): boolean {
  if (left.length === 0 || right.length === 0) return allowEmpty || left.length === right.length;
  const length = Math.min(left.length, right.length);
  const end = left.slice(-length);
  const other = right.slice(-length);
  return end.every((layer, index) => layer === other[index]);
}
