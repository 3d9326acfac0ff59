import { isIP } from 'node:net';
import type { DataAnswer, DataQuery, DataSource } from '../../engine/context/data-source.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { labelsOf } from '../../json/metadata.ts';
import { readBoolean, readObject, readText, readTexts } from '../../json/read-field.ts';
import { scopeViolation, serviceOf } from '../../policy/policy-scope.ts';
import type { ApiClient } from '../api/client.ts';
import { apiErrorOf, hasStatus, messageOf, statusText } from '../api/cluster-error.ts';
import type { KindTable } from '../api/discovery.ts';
import type { ServedKind } from '../api/discovery-document.ts';
import type { Informer } from '../api/informer.ts';
import { apiVersionOf, isObjectName, resourceTypes } from '../api/resource-path.ts';
import type { ConfigMapCache } from './config-map-cache.ts';
import type { GlobalContext } from './global-context.ts';
import type { OpenApiDocuments } from './openapi-documents.ts';
import { readImage } from './registry-client.ts';
import { registryLogins } from './registry-credentials.ts';
import { callService, type Reach, type ServiceCallLimits } from './service-call.ts';

export interface ClusterDataOptions {
  readonly client: ApiClient;
  readonly kinds: () => KindTable;
  readonly namespaces: Informer;
  readonly configMaps: ConfigMapCache;
  readonly globalContext: GlobalContext;
  readonly openApi: OpenApiDocuments;
  readonly calls: ServiceCallLimits;
  /** The namespace of the Secrets with registry credentials. */
  readonly namespace: string;
}

const unreachable = 'the API server did not answer';

type TimeLimit = Pick<ServiceCallLimits, 'timeoutMs'>;
type ApiQuery = Extract<DataQuery, { type: 'apiCall' }>;
type ImageQuery = Extract<DataQuery, { type: 'imageRegistry' }>;
type ObjectQuery = Extract<DataQuery, { type: 'object' }>;

/** Reads the data of policies: from caches where possible, else from the API server. */
export function createClusterDataSource(options: ClusterDataOptions): DataSource {
  const { client, kinds, namespaces, configMaps, globalContext, calls } = options;
  return {
    read(query, milliseconds = Number.POSITIVE_INFINITY) {
      const limits = { ...calls, timeoutMs: Math.min(calls.timeoutMs, milliseconds) };
      switch (query.type) {
        case 'configMap':
          return isObjectName(query.name)
            ? configMaps.read(query.namespace, query.name, limits)
            : missing(`ConfigMap ${query.name} does not exist`, 'the ConfigMap does not exist');
        case 'namespaceLabels':
          return namespaceLabels(client, namespaces, query.namespace, limits);
        case 'object':
          return readNamedObject(client, kinds(), query, limits);
        case 'apiCall':
          return callApi(client, query, limits);
        case 'globalReference':
          return globalContext.read(query.name, query.policyNamespace);
        case 'imageRegistry':
          return readFromRegistry(client, options.namespace, query, limits);
        case 'schema':
          return options.openApi.read(query.apiVersion, query.kind, limits);
      }
    },
  };
}

/** Calls the API server or a service. */
export async function callApi(
  client: ApiClient,
  query: ApiQuery,
  limits: ServiceCallLimits,
): Promise<DataAnswer> {
  const { policyNamespace } = query;
  if (query.service !== undefined) {
    const { method, service, body } = query;
    const mayReach = policyNamespace === undefined ? undefined : ownServices(client, policyNamespace, limits);
    return callService({ method, service, body }, limits, mayReach);
  }
  const path = query.urlPath ?? '';
  const violation = scopeViolation(policyNamespace, { type: 'path', urlPath: path });
  if (violation !== undefined) return denied(violation);
  if (!path.startsWith('/')) return missing('urlPath must begin with /');
  const shown = `${query.method} ${path.split('?', 1)[0]}`;
  try {
    const { status, body } = await client.raw({
      method: query.method,
      // Encodes spaces and similar characters, but does not encode twice.
      path: path.replace(/[^\x21-\x7e]/gu, encodeURIComponent),
      timeoutMs: limits.timeoutMs,
      maxBytes: limits.maxBytes,
      ...(query.method === 'POST'
        ? { body: stringifyJson(query.body ?? {}), headers: { 'content-type': 'application/json' } }
        : {}),
    });
    if (status < 200 || status > 299) {
      const { message } = apiErrorOf(status, shown, body);
      return {
        found: false,
        error: `${shown} answered ${status}: ${message}`,
        reason: `the API server answered ${statusText(status)}`,
        absent: status === 404,
      };
    }
    return { found: true, value: body };
  } catch (error) {
    return missing(messageOf(error), unreachable);
  }
}

async function readFromRegistry(
  client: ApiClient,
  namespace: string,
  { reference, credentials = {} }: ImageQuery,
  limits: ServiceCallLimits,
): Promise<DataAnswer> {
  try {
    const startedAt = performance.now();
    const logins = await registryLogins(client, namespace, readTexts(credentials, 'secrets'), limits);
    const insecure = readBoolean(credentials, 'allowInsecureRegistry') ?? false;
    const timeoutMs = Math.max(limits.timeoutMs - (performance.now() - startedAt), 0);
    return await readImage({ reference, insecure, logins }, { ...limits, timeoutMs });
  } catch (error) {
    return missing(messageOf(error), unreachable);
  }
}

function namespaceLabels(
  client: ApiClient,
  namespaces: Informer,
  name: string,
  { timeoutMs }: TimeLimit,
): DataAnswer | Promise<DataAnswer> {
  const known = namespaces.get(name);
  if (known !== undefined) return { found: true, value: labelsOf(known) };
  // The namespace may be newer than the cache.
  return client.get(resourceTypes.namespaces, { name }, { timeoutMs }).then(
    (object): DataAnswer => ({ found: true, value: labelsOf(object) }),
    (error: unknown) => missing(`namespace ${name} ${reasonOf(error)}`),
  );
}

/** One object, or a list if several namespaces have an object of that name. */
export async function readNamedObject(
  client: ApiClient,
  kinds: KindTable,
  query: ObjectQuery,
  { timeoutMs }: TimeLimit,
): Promise<DataAnswer> {
  const { kind, group, version, namespace, name, policyNamespace } = query;
  const served = kinds.resourceOf({
    kind,
    ...(group === undefined ? {} : { group }),
    ...(version === undefined ? {} : { version }),
  });
  const violation = scopeViolation(policyNamespace, {
    type: 'object',
    kind,
    namespaced: served?.namespaced,
    namespace: namespace ?? '',
  });
  if (violation !== undefined) return denied(violation);
  if (served === undefined) return missing(`the API server serves no ${kind}`);
  if (!isObjectName(name)) return missing(`${kind} ${name} does not exist`);
  try {
    if (served.namespaced && namespace === undefined && policyNamespace === undefined)
      return await findByName(client, served, name, timeoutMs);
    const place = { name, namespace: policyNamespace ?? namespace };
    return { found: true, value: await client.get(served, place, { timeoutMs }) };
  } catch (error) {
    return { found: false, error: `${kind} ${name} ${reasonOf(error)}`, absent: hasStatus(error, 404) };
  }
}

/** Searches all namespaces: returns the object, or a list if there are several. */
async function findByName(
  client: ApiClient,
  served: ServedKind,
  name: string,
  timeoutMs: number,
): Promise<DataAnswer> {
  const { items } = await client.list(served, { fieldSelector: `metadata.name=${name}`, timeoutMs });
  const typed = items.map((item) => ({ ...item, apiVersion: apiVersionOf(served), kind: served.kind }));
  const [first, second] = typed;
  if (first === undefined) return missing(`${served.kind} ${name} does not exist`);
  return { found: true, value: second === undefined ? first : typed };
}

function reasonOf(error: unknown): string {
  return hasStatus(error, 404) ? 'does not exist' : `cannot be read: ${messageOf(error)}`;
}

/**
 * Decides whether a namespaced Policy may call a host. A Service of type ExternalName in its namespace could point anywhere, so the
 * Service is read, and the call goes to the address of the Service that was read: it may be switched to ExternalName meanwhile.
 */
function ownServices(
  client: ApiClient,
  policyNamespace: string,
  { namespacedHosts = [], timeoutMs }: ServiceCallLimits,
): (host: string) => Promise<Reach> {
  return async (host) => {
    const violation = scopeViolation(policyNamespace, {
      type: 'service',
      host,
      allowedHosts: namespacedHosts,
    });
    const service = serviceOf(host);
    if (violation !== undefined || service?.namespace !== policyNamespace) return { violation };
    try {
      const object = await client.get(resourceTypes.services, service, { timeoutMs });
      const spec = readObject(object, 'spec') ?? {};
      if (readText(spec, 'type') === 'ExternalName') {
        const violation = `a Policy in namespace ${policyNamespace} cannot call Service ${service.name}, which is of type ExternalName`;
        return { violation };
      }
      const address = readText(spec, 'clusterIP') ?? '';
      return isIP(address) === 0 ? {} : { address };
    } catch (error) {
      return { violation: `Service ${policyNamespace}/${service.name} ${reasonOf(error)}` };
    }
  };
}

function denied(error: string): DataAnswer {
  return { found: false, error, denied: true };
}

function missing(error: string, reason?: string): DataAnswer {
  return { found: false, error, reason };
}
