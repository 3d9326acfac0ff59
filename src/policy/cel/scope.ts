import type { CelScope } from '../../cel/compile/closure.ts';
import { authorizerValue } from '../../cel/library/authorizer.ts';
import { contextValues, type HttpContext } from '../../cel/library/context.ts';
import type { Effects } from '../../cel/types/environment.ts';
import { CelError } from '../../cel/value/error.ts';
import { toJson } from '../../cel/value/json.ts';
import { Timestamp, type Value, type ValueObject } from '../../cel/value/value.ts';
import { noVariables } from '../../cel/variables.ts';
import { parseRfc3339 } from '../../expression/go/time.ts';
import { metadataOf, textOf } from '../../json/metadata.ts';
import { isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { CelAnswer, CelHost, CelRequest } from '../compiled-cel.ts';
import { resourceOf } from '../resource-name.ts';

/** The object that expressions see, which changes from mutation to mutation. */
export interface CurrentObject {
  object: JsonObject | null;
}

export interface ScopeOptions {
  /** A MutatingPolicy sees empty objects where the API server has null, and has Kyverno's receivers. */
  readonly flavour: 'MutatingPolicy' | 'MutatingAdmissionPolicy';
  /** The namespace of a namespaced policy. */
  readonly namespace?: string | undefined;
  /** Null instead of the Namespace of the request. */
  readonly namespaceObject?: null | undefined;
}

type NamedValues = Readonly<Record<string, Value>>;

const noValues: NamedValues = {};
const noObject: ValueObject = {};

/** The values of the names that an expression can read. A policy without variables reads an empty `variables`. */
export function createScope(
  current: CurrentObject,
  host: CelHost,
  options: ScopeOptions,
  more: NamedValues = noValues,
): CelScope {
  return new PolicyScope(current, host, options, more);
}

/** A class: one is created for each policy and request, and closures would take more memory. */
class PolicyScope implements CelScope {
  readonly #current: CurrentObject;
  readonly #host: CelHost;
  readonly #options: ScopeOptions;
  readonly #more: NamedValues;
  #request: Value | undefined;
  #namespaceObject: Value | undefined;

  constructor(current: CurrentObject, host: CelHost, options: ScopeOptions, more: NamedValues) {
    this.#current = current;
    this.#host = host;
    this.#options = options;
    this.#more = more;
    this.#namespaceObject = options.namespaceObject;
  }

  get effects(): Effects {
    return this.#host.environment;
  }

  lookup(name: string): Value | undefined {
    const isKyverno = this.#options.flavour === 'MutatingPolicy';
    switch (name) {
      case 'object':
        return (this.#current.object ?? (isKyverno ? noObject : null)) as Value;
      case 'oldObject':
        return (this.#host.request.oldObject ?? (isKyverno ? noObject : null)) as Value;
      case 'request':
        this.#request ??= requestValue(this.#host.request, isKyverno);
        return this.#request;
      case 'namespaceObject':
        if (this.#namespaceObject === undefined) this.#namespaceObject = namespaceValue(this.#host);
        return this.#namespaceObject;
      case 'variables':
        return noVariables;
      default:
    }
    if (Object.hasOwn(this.#more, name)) return this.#more[name];
    return isKyverno ? receiver(name, this.#host, this.#options.namespace) : authorizer(name);
  }
}

const noExceptions: ValueObject = { allowedImages: [], allowedValues: [] };

function receiver(name: string, host: CelHost, namespace: string | undefined): Value | undefined {
  switch (name) {
    case 'exceptions':
      return noExceptions;
    case 'resource':
      return contextValues.resource({
        get: (apiVersion, resource, space, object) =>
          value(
            host.read(call('GET', apiPath(apiVersion, resource, space, object), namespace)),
            'get resource',
          ),
        list: (apiVersion, resource, space, labels) => {
          const path = `${apiPath(apiVersion, resource, space)}${labelQuery(labels)}`;
          return value(host.read(call('GET', path, namespace)), 'list resources') ?? { items: [] };
        },
        post: (apiVersion, resource, space, body) => {
          const query = call('POST', apiPath(apiVersion, resource, space), namespace, toJson(body));
          return value(host.read(query), 'post resource');
        },
        toGroupVersionResource: (apiVersion, kind) => {
          const slash = apiVersion.indexOf('/');
          return {
            group: apiVersion.slice(0, Math.max(slash, 0)),
            version: apiVersion.slice(slash + 1),
            resource: resourceOf(kind),
          };
        },
      });
    case 'http':
      return contextValues.http(httpContext(host, namespace));
    case 'globalContext':
      return contextValues.globalContext({
        get: (entry, projection) =>
          value(
            host.read({
              type: 'globalReference',
              name: projection === '' ? entry : `${entry}.${projection}`,
              policyNamespace: namespace,
            }),
            'read the global context',
          ),
      });
    case 'image':
      return contextValues.image({
        get: (reference) => {
          const answer = host.read({ type: 'imageRegistry', reference });
          if (answer.found) return answer.value as Value;
          throw new CelError(`failed to get image data: ${answer.error}`);
        },
      });
    default:
      return undefined;
  }
}

function httpContext(host: CelHost, policyNamespace: string | undefined, caBundle?: string): HttpContext {
  const send = (method: 'GET' | 'POST', url: string, headers: ValueObject, body?: Value): Value => {
    const service: JsonObject = {
      url,
      headers: Object.entries(headers).map(([key, text]) => ({ key, value: text as string })),
      ...(caBundle === undefined ? {} : { caBundle }),
    };
    const answer = host.read({
      type: 'apiCall',
      method,
      service,
      body: body === undefined ? undefined : toJson(body),
      policyNamespace,
    });
    if (answer.found) return answer.value as Value;
    throw new CelError(`failed to call ${url}: ${answer.error}`);
  };
  return {
    get: (url, headers) => send('GET', url, headers),
    post: (url, body, headers) => send('POST', url, headers, body),
    client: (bundle) => httpContext(host, policyNamespace, bundle),
  };
}

function call(method: 'GET' | 'POST', urlPath: string, policyNamespace: string | undefined, body?: Json) {
  return { type: 'apiCall', method, urlPath, body, policyNamespace } as const;
}

/** `/api/v1/namespaces/NS/pods/NAME`. */
export function apiPath(apiVersion: string, resource: string, namespace: string, name?: string): string {
  const root = apiVersion.includes('/') ? '/apis' : '/api';
  const space = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const last = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${root}/${apiVersion}${space}/${encodeURIComponent(resource)}${last}`;
}

function labelQuery(labels: ValueObject): string {
  const terms = Object.entries(labels).map(([key, text]) => `${key}=${String(text)}`);
  return terms.length === 0 ? '' : `?labelSelector=${encodeURIComponent(terms.join(','))}`;
}

/** Null for what does not exist. */
function value(answer: CelAnswer, action: string): Value {
  if (answer.found) return answer.value as Value;
  if (answer.absent === true) return null;
  throw new CelError(`failed to ${action}: ${answer.error}`);
}

/** Offline there is nobody to ask. */
function authorizer(name: string): Value | undefined {
  if (name !== 'authorizer' && name !== 'authorizer.requestResource') return undefined;
  return authorizerValue(() => {
    throw new CelError('the authorizer is available only in an API server');
  });
}

/** With its objects for a MutatingPolicy, without them otherwise. */
function requestValue(request: CelRequest, withObjects: boolean): Value {
  const { kind, subresource, variables, operation } = request;
  const given = (key: string): Value | undefined =>
    (member(variables, key) ?? undefined) as Value | undefined;
  const stated = given('kind') ?? { ...kind };
  const resource = given('resource') ?? {
    group: kind.group,
    version: kind.version,
    resource: request.resource ?? resourceOf(kind.kind),
  };
  const value: Record<string, Value> = {
    kind: stated,
    resource,
    requestKind: given('requestKind') ?? stated,
    requestResource: given('requestResource') ?? resource,
    name: given('name') ?? request.name,
    namespace: given('namespace') ?? request.namespace,
    userInfo: given('userInfo') ?? {},
    dryRun: given('dryRun') ?? false,
  };
  const optional = (key: string, item: Value | null | undefined): void => {
    if (item !== undefined && item !== null && item !== '') value[key] = item;
  };
  optional('operation', given('operation') ?? operation);
  optional('options', given('options'));
  optional('subResource', subresource || given('subResource'));
  optional('requestSubResource', given('requestSubResource') ?? subresource);
  if (withObjects) {
    optional('object', (request.object === null ? null : (request.original ?? request.object)) as Value);
    optional('oldObject', request.oldObject as Value);
  }
  return value;
}

const namespaceFields = [
  'name',
  'generateName',
  'namespace',
  'labels',
  'annotations',
  'generation',
  'resourceVersion',
  'finalizers',
  'deletionGracePeriodSeconds',
];

/** The Namespace of the request; null for a cluster-scoped object. */
function namespaceValue(host: CelHost): Value {
  const { namespace, kind } = host.request;
  if (namespace === '' || (kind.kind === 'Namespace' && kind.group === '')) return null;
  const answer = host.read({ type: 'object', group: '', version: 'v1', kind: 'Namespace', name: namespace });
  const labels = host.read({ type: 'namespaceLabels', namespace });
  if (!answer.found && !labels.found) return null;
  const object = answer.found && isObject(answer.value) ? answer.value : {};
  const known = metadataOf(object);
  const metadata: Record<string, Value> = { name: namespace };
  for (const field of namespaceFields) {
    const item = member(known, field);
    if (item !== undefined && item !== null) metadata[field] = item as Value;
  }
  if (labels.found) metadata['labels'] = labels.value as Value;
  const uid = textOf(known['uid']);
  if (uid !== '') metadata['UID'] = uid;
  for (const field of ['creationTimestamp', 'deletionTimestamp']) {
    const time = timestampOf(textOf(known[field]));
    if (time !== undefined) metadata[field] = time;
  }
  const spec = member(object, 'spec');
  const status = member(object, 'status');
  return {
    metadata,
    ...(isObject(spec) ? { spec: spec as ValueObject } : {}),
    ...(isObject(status) ? { status: status as ValueObject } : {}),
  };
}

function timestampOf(text: string): Value | undefined {
  if (text === '') return undefined;
  try {
    return new Timestamp(parseRfc3339(text).nanoseconds);
  } catch {
    return undefined;
  }
}
