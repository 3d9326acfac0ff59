import { refOf } from '../../background/object-identity.ts';
import {
  type ListQuery,
  type ObjectRef,
  type ObjectStore,
  StoreError,
  type StoreReason,
} from '../../background/ports.ts';
import { compileWildcard, hasWildcard } from '../../expression/wildcard.ts';
import { diff } from '../../json/diff/diff.ts';
import { metadataOf } from '../../json/metadata.ts';
import type { PatchOperation } from '../../json/patch/operation.ts';
import type { JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { ApiError, ClusterAccessError } from '../api/cluster-error.ts';
import type { KindTable } from '../api/discovery.ts';
import type { ServedKind } from '../api/discovery-document.ts';
import { apiVersionOf, isObjectName } from '../api/resource-path.ts';

/** The field manager of objects that rules write in the background. */
export const backgroundManager = 'kymera-background';

/** Reads and writes objects of a cluster for mutateExisting and generate rules. */
export function createClusterStore(client: ApiClient, kinds: () => KindTable): ObjectStore {
  const served = (apiVersion: string, kind: string) => servedKind(kinds(), apiVersion, kind);

  async function get(ref: ObjectRef): Promise<JsonObject | undefined> {
    const type = served(ref.apiVersion, ref.kind);
    if (type === undefined) throw unknownKind(ref.apiVersion, ref.kind);
    const { name, namespace, subresource } = ref;
    try {
      return await client.get(
        type,
        placeIn(type, namespace, { name, ...(subresource ? { subresource } : {}) }),
      );
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw storeError(error);
    }
  }

  async function listOf(type: ServedKind, query: ListQuery): Promise<readonly JsonObject[]> {
    const { namespace, labelSelector } = query;
    const { items } = await client
      .list(type, {
        // Not paged: pages would not be a consistent snapshot.
        resourceVersion: '',
        namespace,
        labelSelector,
      })
      .catch((error: unknown) => {
        throw storeError(error);
      });
    // In the order of a single object that the API server returns: previews show no difference.
    return items.map((item) => ({ kind: type.kind, apiVersion: apiVersionOf(type), ...item }));
  }

  const typeOf = ({ apiVersion, kind }: Pick<ObjectRef, 'apiVersion' | 'kind'>): ServedKind => {
    const type = served(apiVersion, kind);
    if (type === undefined) throw unknownKind(apiVersion, kind);
    return type;
  };
  const written = (answer: Promise<JsonObject>) =>
    answer.catch((error: unknown) => {
      throw storeError(error);
    });

  return {
    get,
    async list(query) {
      const lists: JsonObject[] = [];
      for (const type of servedKinds(kinds(), query)) {
        if (query.namespace === undefined || type.namespaced) lists.push(...(await listOf(type, query)));
      }
      return lists;
    },
    isNamespaced: (apiVersion, kind) => served(apiVersion, kind)?.namespaced,
    create: async (object) =>
      written(client.create(typeOf(refOf(object)), object, { fieldManager: backgroundManager })),
    async update(before, after, ref = refOf(after)) {
      const type = typeOf(ref);
      const { name, namespace, subresource } = ref;
      return written(
        client.patch(type, placeIn(type, namespace, { name, subresource }), guardedPatch(before, after), {
          fieldManager: backgroundManager,
        }),
      );
    },
    apply: async (object) =>
      written(client.apply(typeOf(refOf(object)), object, { fieldManager: backgroundManager })),
    async remove(ref) {
      const type = served(ref.apiVersion, ref.kind);
      if (type === undefined) return;
      try {
        await client.delete(type, placeIn(type, ref.namespace, { name: ref.name }));
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return;
        throw storeError(error);
      }
    },
  };
}

/** The API server answers 409 if the object has another resourceVersion by now. */
function guardedPatch(before: JsonObject, after: JsonObject): readonly PatchOperation[] {
  const resourceVersion = metadataOf(before)['resourceVersion'] ?? '';
  return [
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
    ...diff(before, after),
  ];
}

function placeIn<T extends object>(
  type: ServedKind,
  namespace: string,
  place: T & { readonly name: string },
): T & { readonly name: string; readonly namespace?: string | undefined } {
  for (const name of [place.name, ...(namespace === '' ? [] : [namespace])]) {
    if (!isObjectName(name)) throw new StoreError('invalid', `"${name}" is not the name of an object`);
  }
  return type.namespaced && namespace !== '' ? { ...place, namespace } : place;
}

function servedKind(table: KindTable, apiVersion: string, kind: string): ServedKind | undefined {
  if (hasWildcard(apiVersion) || hasWildcard(kind)) return servedKinds(table, { apiVersion, kind })[0];
  if (apiVersion === '') return table.resourceOf({ kind });
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  return table.resourceOf({ kind, group, version: apiVersion.slice(slash + 1) });
}

/** One version of each matching kind: the preferred one if the version is a wildcard. */
function servedKinds(
  table: KindTable,
  { apiVersion, kind, resource = '*' }: ListQuery,
): readonly ServedKind[] {
  const slash = apiVersion.indexOf('/');
  const isAny = apiVersion === '' || apiVersion === '*';
  const group = compileWildcard(isAny ? '*' : apiVersion.slice(0, Math.max(slash, 0)));
  const version = compileWildcard(isAny ? '*' : apiVersion.slice(slash + 1));
  const name = compileWildcard(kind);
  const plural = compileWildcard(resource);
  const found = new Map<string, ServedKind>();
  for (const served of table.kinds) {
    const key = `${served.group}/${served.kind}`;
    if (!served.verbs.includes('list') || found.has(key)) continue;
    if (!name.matches(served.kind) || !plural.matches(served.resource) || !group.matches(served.group))
      continue;
    if (version.matches(served.version)) found.set(key, served);
  }
  return [...found.values()];
}

function unknownKind(apiVersion: string, kind: string): StoreError {
  return new StoreError('notFound', `the API server serves no ${apiVersion} ${kind}`);
}

function storeError(error: unknown): unknown {
  if (error instanceof ClusterAccessError)
    return new StoreError('unavailable', error.message, { cause: error });
  if (!(error instanceof ApiError)) return error;
  return new StoreError(reasonOf(error), error.message, { cause: error });
}

function reasonOf({ status, reason, causes }: ApiError): StoreReason {
  if (causes.includes('NamespaceTerminating')) return 'terminating';
  if (status === 409) return reason === 'AlreadyExists' ? 'alreadyExists' : 'conflict';
  if (status === 403 || status === 401) return 'forbidden';
  if (status === 404) return 'notFound';
  if (status === 429 || status >= 500) return 'unavailable';
  return 'invalid';
}
