import type { ObjectStore } from '../background/ports.ts';
import type { DataAnswer, DataSource } from '../engine/context/data-source.ts';
import { isObject, type JsonObject, member } from '../json/value.ts';
import type { CompiledPolicy } from '../policy/compiled.ts';
import type { ApiClient } from './api/client.ts';
import type { AccessOptions } from './api/cluster-access.ts';
import { messageOf } from './api/cluster-error.ts';
import { connect } from './api/connect.ts';
import { type KindTable, startDiscovery } from './api/discovery.ts';
import type { ServedKind } from './api/discovery-document.ts';
import { apiVersionOf, resourceTypes } from './api/resource-path.ts';
import { createClusterStore } from './background/store.ts';
import { callApi, readNamedObject } from './context/data-source.ts';
import { createOpenApiDocuments } from './context/openapi-documents.ts';

/** Reads a running cluster without watching it. */
export interface ClusterReader {
  readonly dataSource: DataSource;
  /** Reads and writes single objects of the cluster. */
  readonly store: ObjectStore;
  readonly kinds: KindTable;
  /** The objects whose kinds the policies match. */
  objects(policies: readonly CompiledPolicy[], namespace?: string): AsyncGenerator<JsonObject>;
  /** Policies of all kinds, with bindings. */
  policies(): AsyncGenerator<JsonObject>;
  close(): void;
}

const calls = { timeoutMs: 10_000, maxBytes: 10_000_000 };

/** Throws ClusterAccessError if the cluster cannot be reached. */
export async function openClusterReader(options: AccessOptions): Promise<ClusterReader> {
  const { client } = await connect(options);
  const kinds = (await startDiscovery(client)).current();
  return {
    dataSource: createReadingSource(client, kinds),
    store: createClusterStore(client, () => kinds),
    kinds,
    objects: (policies, namespace) => listObjects(client, kinds, policies, namespace),
    policies: () => listPolicies(client, kinds),
    close: () => client.close(),
  };
}

function createReadingSource(client: ApiClient, kinds: KindTable): DataSource {
  const get = (type: Parameters<ApiClient['get']>[0], place: Parameters<ApiClient['get']>[1]) =>
    client.get(type, place).then(
      (value): DataAnswer => ({ found: true, value }),
      (error: unknown): DataAnswer => ({ found: false, error: messageOf(error) }),
    );
  const openApi = createOpenApiDocuments(client);
  return {
    read(query) {
      switch (query.type) {
        case 'configMap':
          return get(resourceTypes.configMaps, { namespace: query.namespace, name: query.name });
        case 'namespaceLabels':
          return get(resourceTypes.namespaces, { name: query.namespace }).then(labelsOf);
        case 'object':
          return readNamedObject(client, kinds, query, calls);
        case 'apiCall':
          return query.service === undefined
            ? callApi(client, query, { ...calls, allowedHosts: [] })
            : { found: false, error: 'only the server calls services' };
        case 'globalReference':
        case 'imageRegistry':
          return { found: false, error: `only the server reads ${query.type} entries` };
        case 'schema':
          return openApi.read(query.apiVersion, query.kind, calls);
      }
    },
  };
}

function labelsOf(answer: DataAnswer): DataAnswer {
  if (!answer.found || !isObject(answer.value)) return answer;
  const metadata = member(answer.value, 'metadata');
  const labels = isObject(metadata) ? member(metadata, 'labels') : undefined;
  return { found: true, value: labels ?? {} };
}

async function* listObjects(
  client: ApiClient,
  kinds: KindTable,
  policies: readonly CompiledPolicy[],
  namespace: string | undefined,
): AsyncGenerator<JsonObject> {
  for (const served of kindsOf(policies, kinds)) {
    const inNamespace = served.namespaced && namespace !== undefined ? { namespace } : {};
    const { items } = await client.list(served, inNamespace);
    for (const item of items) yield { apiVersion: apiVersionOf(served), kind: served.kind, ...item };
  }
}

const policyKinds: readonly { readonly group: string; readonly kind: string }[] = [
  ...['kyverno.io', 'kymera.io'].flatMap((group) =>
    ['ClusterPolicy', 'Policy'].map((kind) => ({ group, kind })),
  ),
  ...[
    'MutatingPolicy',
    'NamespacedMutatingPolicy',
    'ValidatingPolicy',
    'ImageValidatingPolicy',
    'GeneratingPolicy',
    'DeletingPolicy',
  ].map((kind) => ({ group: 'policies.kyverno.io', kind })),
  ...['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'].map((kind) => ({
    group: 'admissionregistration.k8s.io',
    kind,
  })),
];

/** The policies of all kinds that the cluster has. */
async function* listPolicies(client: ApiClient, kinds: KindTable): AsyncGenerator<JsonObject> {
  for (const kind of policyKinds) {
    const served = kinds.resourceOf(kind);
    if (served === undefined || !served.verbs.includes('list')) continue;
    const { items } = await client.list(served);
    for (const item of items) yield { apiVersion: apiVersionOf(served), kind: served.kind, ...item };
  }
}

/** One version of each kind in the match blocks. */
function kindsOf(policies: readonly CompiledPolicy[], kinds: KindTable): readonly ServedKind[] {
  const found = new Map<string, ServedKind>();
  const blocks = policies
    .flatMap((policy) => policy.rules)
    .flatMap(({ match }) => match.any ?? match.all ?? []);
  for (const selector of blocks.flatMap((block) => block.kinds ?? [])) {
    for (const served of kinds.select(selector)) {
      const key = `${served.group}/${served.kind}`;
      if (served.verbs.includes('list') && !found.has(key)) found.set(key, served);
    }
  }
  return [...found.values()];
}
