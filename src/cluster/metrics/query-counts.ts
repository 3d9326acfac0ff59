import type { KindTable } from '../api/discovery.ts';
import { type ObjectPlace, resourceOfPath } from '../api/resource-path.ts';
import { type HttpRequest, pathOnly } from '../api/transport.ts';
import { createCounts, type Sample } from './counts.ts';

export interface QueryCounts {
  add(request: HttpRequest): void;
  /** Resolves resources to kinds, which are known only after discovery. */
  all(kinds: Pick<KindTable, 'kindOfResource'>): readonly Sample[];
}

interface Query {
  readonly operation: string;
  readonly client: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
}

type AlikeQueries = Query & { count: number };

/** Policies can use any path. Beyond this number, queries are counted together. */
const mostRemembered = 1_000;
const other: Query = {
  operation: 'other',
  client: 'other',
  group: '',
  version: '',
  resource: '',
  namespace: '',
};
const noKind = '-';

/**
 * Counts queries to the API server with Kyverno's labels. Only the server's own namespace is a label value: other
 * namespaces come from requests, and the number of series would have no limit.
 */
export function createQueryCounts(ownNamespace: string): QueryCounts {
  const remembered = new Map<string, AlikeQueries>();

  function alike(query: Query): AlikeQueries {
    const key = Object.values(query).join(' ');
    const known = remembered.get(key);
    if (known !== undefined) return known;
    if (remembered.size >= mostRemembered && query !== other) return alike(other);
    const first = { ...query, count: 0 };
    remembered.set(key, first);
    return first;
  }

  return {
    add(request) {
      alike(queryOf(request, ownNamespace)).count += 1;
    },
    all(kinds) {
      // All versions of a kind are counted together.
      const counts = createCounts();
      for (const { operation, client, namespace, count, ...resource } of remembered.values()) {
        const labels = {
          operation,
          client_type: client,
          resource_kind: kindOf(resource, kinds),
          resource_namespace: namespace,
        };
        counts.add(labels, count);
      }
      return counts.all();
    },
  };
}

const discovery = 'Discovery';

function kindOf(
  resource: Pick<Query, 'group' | 'version' | 'resource'>,
  kinds: Pick<KindTable, 'kindOfResource'>,
): string {
  if (resource.resource === discovery) return discovery;
  return kinds.kindOfResource(resource)?.kind ?? noKind;
}

function queryOf({ method, path, headers }: HttpRequest, ownNamespace: string): Query {
  const plain = pathOnly(path);
  const found = resourceOfPath(plain);
  if (found === undefined) {
    const resource = /^\/apis?(\/|$)/.test(plain) ? discovery : '';
    return { operation: 'get', client: 'kubeclient', group: '', version: '', resource, namespace: '' };
  }
  const { group, version, resource, namespace } = found;
  const isMetadata = headers?.['accept']?.includes('as=PartialObjectMetadata') === true;
  return {
    operation: operationOf(method, found, path),
    client: isMetadata ? 'metadata' : clientOf(group),
    group,
    version,
    resource,
    namespace: namespace === ownNamespace ? ownNamespace : '',
  };
}

/** The client that Kyverno uses for the API group. */
function clientOf(group: string): string {
  if (/(^|\.)(kyverno|kymera|nirmata)\.io$/.test(group)) return 'kyverno';
  if (group === 'apiextensions.k8s.io') return 'apiserver';
  return !group.includes('.') || group.endsWith('.k8s.io') ? 'kubeclient' : 'dynamic';
}

function operationOf(method: string, { name, subresource }: ObjectPlace, path: string): string {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return subresource === 'status' ? 'update_status' : 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === undefined ? 'delete_collection' : 'delete';
    default:
      if (/[?&]watch=(true|1)(&|$)/.test(path)) return 'watch';
      return name === undefined ? 'list' : 'get';
  }
}
