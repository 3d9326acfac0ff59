import { removeMember, setMember } from '../../json/edit.ts';
import { isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import { isClusterScoped } from './cluster-scope.ts';

/** What tells resources of a build apart. Absent parts are empty text. */
export interface ResourceId {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

export type Behavior = 'unspecified' | 'create' | 'merge' | 'replace';

/** Where a resource comes from, as `buildMetadata: [originAnnotations]` prints it. */
export interface Origin {
  /** The file, relative to the folder that is built. */
  readonly path?: string | undefined;
  /** What made a generated resource. */
  readonly configuredIn?: string | undefined;
  readonly configuredBy?: JsonObject | undefined;
}

/**
 * One resource on its way through a build. The object is an immutable value, replaced as a whole by
 * `ResourceSet.update`; beside it stands what the build has to remember about it.
 */
export interface Resource {
  readonly object: JsonObject;
  /** The ids it had before its name, namespace or kind changed, oldest first. */
  readonly previousIds: readonly ResourceId[];
  /** Prefixes and suffixes given so far, innermost first: references look for a resource of the same layers. */
  readonly prefixes: readonly string[];
  readonly suffixes: readonly string[];
  /** The name gets a hash of the content at the end of the build. */
  readonly needsHash: boolean;
  /** What a generated resource does to one with its id that is there already. */
  readonly behavior: Behavior;
  readonly origin: Origin | undefined;
  /** Transformers that changed it, for `buildMetadata: [transformerAnnotations]`. */
  readonly transformations: readonly JsonObject[];
  /** What `currentId` has read last. */
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

/** The id that the object states now. */
export function currentId(resource: Resource): ResourceId {
  return identityOf(resource).id;
}

/** The key of the current id: see `idKey`. */
export function currentKey(resource: Resource): string {
  return identityOf(resource).key;
}

/** An id and its key, read once for each object that a resource has. */
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

/** Most changes leave the metadata alone, and with it the id. */
function identityAfter(known: Identity | undefined, object: JsonObject): Identity {
  if (known !== undefined && identityFields.every((field) => known.object[field] === object[field])) {
    return { ...known, object };
  }
  const id = idOf(object);
  return { object, id, key: idKey(id) };
}

const identityFields = ['metadata', 'apiVersion', 'kind'] as const;

/** The id it was loaded with. */
export function originalId(resource: Resource): ResourceId {
  return resource.previousIds[0] ?? currentId(resource);
}

/** Previous ids, oldest first, and the current one. */
export function allIds(resource: Resource): readonly ResourceId[] {
  return [...resource.previousIds, currentId(resource)];
}

/** Objects are values, and every stage asks for their ids. */
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

/** A cluster-scoped resource has this in place of a namespace, so that it equals no namespaced one. */
export const clusterScope = '_non_namespaceable_';

/** The namespace that ids are compared by: `default` when none is stated. */
export function effectiveNamespace(id: ResourceId): string {
  if (isClusterScoped(id)) return clusterScope;
  return id.namespace === '' ? 'default' : id.namespace;
}

/** Group, version, kind, name and effective namespace as one key: ids are equal when their keys are. */
export function idKey(id: ResourceId): string {
  return `${id.group}\n${id.version}\n${id.kind}\n${effectiveNamespace(id)}\n${id.name}`;
}

export function sameId(left: ResourceId, right: ResourceId): boolean {
  return idKey(left) === idKey(right);
}

/** An id for messages: `Deployment.apps/v1 "web" in namespace "shop"`. */
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

/** No annotations at all leave no map of them. */
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
