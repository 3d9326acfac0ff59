import { removeMember, setMember } from '../../json/edit.ts';
import { isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import { isClusterScoped } from './cluster-scope.ts';

/** Identifies a resource in a build. Missing parts are ''. */
export interface ResourceId {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

export type Behavior = 'unspecified' | 'create' | 'merge' | 'replace';

/** The origin of a resource, for `buildMetadata: [originAnnotations]`. */
export interface Origin {
  /** The file, relative to the folder being built or to the repository. */
  readonly path?: string | undefined;
  /** The git repository that contains the file. */
  readonly repo?: string | undefined;
  readonly ref?: string | undefined;
  /** The generator of the resource. */
  readonly configuredIn?: string | undefined;
  readonly configuredBy?: JsonObject | undefined;
}

/**
 * A resource and its build state. The object is immutable; `ResourceSet.update` replaces it.
 */
export interface Resource {
  readonly object: JsonObject;
  /** Ids before changes of name, namespace or kind, oldest first. */
  readonly previousIds: readonly ResourceId[];
  /** Prefixes and suffixes so far, innermost first. References prefer resources with the same ones. */
  readonly prefixes: readonly string[];
  readonly suffixes: readonly string[];
  /** Append a content hash to the name at the end of the build. */
  readonly needsHash: boolean;
  /** How a generated resource changes an existing one with the same id. */
  readonly behavior: Behavior;
  readonly origin: Origin | undefined;
  /** Rendered from a Helm chart. */
  readonly fromChart?: boolean | undefined;
  /** Transformers that changed it, for `buildMetadata: [transformerAnnotations]`. */
  readonly transformations: readonly JsonObject[];
  /** Cache of `currentId`. */
  readonly identity?: Identity | undefined;
}

export function createResource(object: JsonObject, more: Partial<Omit<Resource, 'object'>> = {}): Resource {
  return {
    object,
    previousIds: [],
    prefixes: [],
    suffixes: [],
    needsHash: false,
    behavior: 'unspecified',
    origin: undefined,
    transformations: [],
    ...more,
  };
}

/** The id of the current object. */
export function currentId(resource: Resource): ResourceId {
  return identityOf(resource).id;
}

/** The key of the current id: see `idKey`. */
export function currentKey(resource: Resource): string {
  return identityOf(resource).key;
}

/** The id and key of an object. */
interface Identity {
  readonly object: JsonObject;
  readonly id: ResourceId;
  readonly key: string;
}

function identityOf(resource: Resource): Identity {
  const known = resource.identity;
  if (known !== undefined && known.object === resource.object) return known;
  const identity = identityAfter(known, resource.object);
  (resource as { identity?: Identity | undefined }).identity = identity;
  return identity;
}

/** Reuses the id if metadata, apiVersion and kind are unchanged. */
function identityAfter(known: Identity | undefined, object: JsonObject): Identity {
  if (known !== undefined && identityFields.every((field) => known.object[field] === object[field])) {
    return { ...known, object };
  }
  const id = idOf(object);
  return { object, id, key: idKey(id) };
}

const identityFields = ['metadata', 'apiVersion', 'kind'] as const;

/** The id at load time. */
export function originalId(resource: Resource): ResourceId {
  return resource.previousIds[0] ?? currentId(resource);
}

/** Previous ids, oldest first, and the current one. */
export function allIds(resource: Resource): readonly ResourceId[] {
  return [...resource.previousIds, currentId(resource)];
}

/** Objects are immutable, so their ids can be cached. */
const knownIds = new WeakMap<JsonObject, ResourceId>();

export function idOf(object: JsonObject): ResourceId {
  const known = knownIds.get(object);
  if (known !== undefined) return known;
  const id = readId(object);
  knownIds.set(object, id);
  return id;
}

function readId(object: JsonObject): ResourceId {
  const metadata = member(object, 'metadata');
  const apiVersion = textOf(member(object, 'apiVersion'));
  const slash = apiVersion.indexOf('/');
  return {
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: slash < 0 ? apiVersion : apiVersion.slice(slash + 1),
    kind: textOf(member(object, 'kind')),
    name: isObject(metadata) ? textOf(member(metadata, 'name')) : '',
    namespace: isObject(metadata) ? textOf(member(metadata, 'namespace')) : '',
  };
}

function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value);
}

/** The namespace of cluster-scoped resources in comparisons; equals no real namespace. */
export const clusterScope = '_non_namespaceable_';

/** The namespace for comparisons: `default` if empty. */
export function effectiveNamespace(id: ResourceId): string {
  if (isClusterScoped(id)) return clusterScope;
  return id.namespace === '' ? 'default' : id.namespace;
}

/** A key of group, version, kind, name and effective namespace. Ids are equal if their keys are. */
export function idKey(id: ResourceId): string {
  return `${id.group}\n${id.version}\n${id.kind}\n${effectiveNamespace(id)}\n${id.name}`;
}

export function sameId(left: ResourceId, right: ResourceId): boolean {
  return idKey(left) === idKey(right);
}

/** An id for messages: `Deployment (apps/v1) "web" in namespace "shop"`. */
export function describeId(id: ResourceId): string {
  const version = id.group === '' ? id.version : `${id.group}/${id.version}`;
  const namespace = id.namespace === '' ? '' : ` in namespace "${id.namespace}"`;
  return `${id.kind}${version === '' ? '' : ` (${version})`} "${id.name}"${namespace}`;
}

export function isNamespaced(id: ResourceId): boolean {
  return !isClusterScoped(id);
}

export function annotationsOf(object: JsonObject): JsonObject {
  const metadata = member(object, 'metadata');
  const annotations = isObject(metadata) ? member(metadata, 'annotations') : undefined;
  return isObject(annotations) ? annotations : {};
}

/** Sets annotations. An empty map is removed. */
export function withAnnotations(object: JsonObject, annotations: JsonObject): JsonObject {
  const stated = member(object, 'metadata');
  const metadata = isObject(stated) ? stated : {};
  return setMember(
    object,
    'metadata',
    Object.keys(annotations).length === 0
      ? removeMember(metadata, 'annotations')
      : setMember(metadata, 'annotations', annotations),
  );
}
