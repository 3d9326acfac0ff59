import { parseLabelQuery } from '../expression/label-query.ts';
import { compileWildcard } from '../expression/wildcard.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import { mergeKinds } from '../patch/generated/merge-types.ts';
import { clusterScopedKinds } from '../policy/cluster-scoped-kinds.ts';
import { readObject } from '../policy/read-field.ts';
import { labelsOf, metadataOf, refKey, refOf, refTitle } from './object-identity.ts';
import { type ListQuery, type ObjectRef, type ObjectStore, StoreError } from './ports.ts';

/** Objects that are held here: those of files, or what would become of those of a cluster. */
export interface MemoryStore extends ObjectStore {
  /** As they are now, in the order they came. */
  objects(): readonly JsonObject[];
}

/** Custom kinds have namespaces: most do. A kind that the core group does not have is not known. */
export function isNamespacedKind(apiVersion: string, kind: string): boolean | undefined {
  if (clusterScopedKinds.has(kind)) return false;
  return apiVersion.includes('/') || Object.hasOwn(mergeKinds, `${apiVersion}/${kind}`) ? true : undefined;
}

export function createMemoryStore(
  objects: Iterable<JsonObject>,
  isNamespaced: ObjectStore['isNamespaced'] = isNamespacedKind,
): MemoryStore {
  const held = new Map<string, JsonObject>();
  for (const object of objects) held.set(refKey(refOf(object)), object);
  const find = ({ subresource: _, ...ref }: ObjectRef) => held.get(refKey(ref));

  async function update(object: JsonObject, subresource = '', parent?: ObjectRef): Promise<JsonObject> {
    const ref = parent ?? refOf(object);
    const before = find(ref);
    if (before === undefined) throw new StoreError('notFound', `there is no ${refTitle(ref)}`);
    const version = metadataOf(before)['resourceVersion'];
    const read = metadataOf(object)['resourceVersion'];
    if (version !== undefined && read !== undefined && version !== read) {
      throw new StoreError('conflict', `${refTitle(ref)} has changed since it was read`);
    }
    const after = withNextVersion(
      subresource === '' ? object : writePart(before, subresource, object),
      version,
    );
    held.set(refKey({ ...refOf(before) }), after);
    return after;
  }

  return {
    objects: () => [...held.values()],
    isNamespaced,
    async get(ref) {
      const object = find(ref);
      if (object === undefined || (ref.subresource ?? '') === '') return object;
      return readPart(object, ref.subresource ?? '');
    },
    async list(query) {
      const selects = selectorOf(query);
      return [...held.values()].filter(selects);
    },
    async create(object) {
      const ref = refOf(object);
      if (find(ref) !== undefined)
        throw new StoreError('alreadyExists', `there is a ${refTitle(ref)} already`);
      held.set(refKey(ref), object);
      return object;
    },
    update,
    async remove(ref) {
      const { subresource: _, ...whole } = ref;
      held.delete(refKey(whole));
    },
  };
}

function selectorOf(query: ListQuery): (object: JsonObject) => boolean {
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

function withNextVersion(object: JsonObject, version: Json | undefined): JsonObject {
  if (typeof version !== 'string') return object;
  return { ...object, metadata: { ...metadataOf(object), resourceVersion: String(Number(version) + 1) } };
}

/** What the API server makes of the two subresources that every workload has. */
function readPart(object: JsonObject, subresource: string): JsonObject | undefined {
  if (subresource === 'status') return object;
  const replicas = readObject(object, 'spec')?.['replicas'];
  if (subresource !== 'scale' || typeof replicas !== 'number') return undefined;
  const { name, namespace, uid, resourceVersion } = metadataOf(object);
  const metadata = { name, namespace, uid, resourceVersion };
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: Object.fromEntries(
      Object.entries(metadata).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
    ),
    spec: { replicas },
  };
}

function writePart(object: JsonObject, subresource: string, part: JsonObject): JsonObject {
  if (subresource === 'status') {
    const status = part['status'];
    return status === undefined ? object : { ...object, status };
  }
  const replicas = readObject(part, 'spec')?.['replicas'];
  if (subresource !== 'scale' || typeof replicas !== 'number') {
    throw new StoreError('invalid', `${refTitle(refOf(object))} has no subresource ${subresource}`);
  }
  const spec = object['spec'];
  return { ...object, spec: { ...(isObject(spec) ? spec : {}), replicas } };
}
