import type { IncomingMessage } from 'node:http';
import { parseJson, stringifyJson } from '../../json/json-text.ts';
import type { PatchOperation } from '../../json/patch/operation.ts';
import { readObject, readText } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import { apiErrorOf, ClusterAccessError } from './cluster-error.ts';
import { type ObjectPlace, pathOf, type ResourceType } from './resource-path.ts';
import { type HttpRequest, pathOnly, type Transport } from './transport.ts';

export interface CallOptions {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface WriteOptions extends CallOptions {
  /** The API server processes the request, but does not store the result. */
  readonly dryRun?: boolean | undefined;
  /** The field manager; by default that of this program. */
  readonly fieldManager?: string | undefined;
}

export interface DeleteConditions {
  /** The API server answers 409 if the object is a different one. */
  readonly preconditions?: { readonly resourceVersion?: string; readonly uid?: string } | undefined;
}

export interface ListOptions extends CallOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** `0` allows an answer from the cache of the API server. */
  readonly resourceVersion?: string | undefined;
  /** Name, labels and annotations only. */
  readonly metadataOnly?: boolean | undefined;
}

export interface WatchOptions extends Omit<ListOptions, 'timeoutMs'> {
  readonly timeoutSeconds: number;
}

export interface ObjectList {
  readonly items: readonly JsonObject[];
  readonly resourceVersion: string;
}

export interface RawAnswer {
  readonly status: number;
  readonly body: Json | string;
}

/** Every call has a deadline. A refusal is an ApiError; a timeout or a failed connection is a ClusterAccessError. */
export interface ApiClient {
  get(type: ResourceType, place: ObjectPlace, options?: CallOptions): Promise<JsonObject>;
  list(type: ResourceType, options?: ListOptions): Promise<ObjectList>;
  /** Resolves with the stream when the API server has accepted the watch. */
  watch(type: ResourceType, options: WatchOptions): Promise<IncomingMessage>;
  create(type: ResourceType, object: JsonObject, options?: WriteOptions): Promise<JsonObject>;
  update(
    type: ResourceType,
    object: JsonObject,
    options?: WriteOptions & { subresource?: string | undefined },
  ): Promise<JsonObject>;
  /** A list is a JSON patch, an object a JSON merge patch. */
  patch(
    type: ResourceType,
    place: ObjectPlace,
    patch: JsonObject | readonly PatchOperation[],
    options?: WriteOptions,
  ): Promise<JsonObject>;
  /** Server-side apply. Takes over fields of other managers. */
  apply(type: ResourceType, object: JsonObject, options?: WriteOptions): Promise<JsonObject>;
  delete(type: ResourceType, place: ObjectPlace, options?: WriteOptions & DeleteConditions): Promise<void>;
  /** Any path, as in `kubectl get --raw`. Resolves whatever the status is. */
  raw(request: HttpRequest): Promise<RawAnswer>;
  /** The time of the API server in ms since the epoch. It judges our certificates, and all replicas share it. */
  now(): number;
  close(): void;
}

const listTimeoutMs = 60_000;
const pageSize = 500;
const metadataAccept = (kind: string) => `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;

export function createClient(transport: Transport): ApiClient {
  async function call(request: HttpRequest): Promise<JsonObject> {
    const { status, body } = await raw(request);
    const name = `${request.method} ${pathOnly(request.path)}`;
    if (status < 200 || status > 299) throw apiErrorOf(status, name, body);
    if (typeof body === 'string' || !isObject(body))
      throw new ClusterAccessError(`the response to ${name} is not a JSON object`);
    return body;
  }

  async function raw(request: HttpRequest): Promise<RawAnswer> {
    const response = await transport.send(request);
    return { status: response.status, body: parseBody(response.body, response.contentType) };
  }

  async function list(type: ResourceType, options: ListOptions = {}): Promise<ObjectList> {
    const items: JsonObject[] = [];
    let next = '';
    for (;;) {
      const page: Record<string, string> =
        options.resourceVersion === undefined
          ? { limit: String(pageSize), ...(next === '' ? {} : { continue: next }) }
          : { resourceVersion: options.resourceVersion };
      const answer = await call({
        method: 'GET',
        path: `${pathOf(type, options)}${query({ ...selectors(options), ...page })}`,
        timeoutMs: options.timeoutMs ?? listTimeoutMs,
        signal: options.signal,
        ...(options.metadataOnly ? { headers: { accept: metadataAccept('PartialObjectMetadataList') } } : {}),
      });
      const metadata = readObject(answer, 'metadata') ?? {};
      for (const item of itemsOf(answer)) items.push(item);
      next = readText(metadata, 'continue') ?? '';
      if (next === '') return { items, resourceVersion: readText(metadata, 'resourceVersion') ?? '' };
    }
  }

  async function watch(type: ResourceType, options: WatchOptions): Promise<IncomingMessage> {
    const parameters = {
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(options.timeoutSeconds),
      resourceVersion: options.resourceVersion ?? '',
      ...selectors(options),
    };
    const path = pathOf(type, options);
    const response = await transport.open({
      method: 'GET',
      path: `${path}${query(parameters)}`,
      timeoutMs: 10_000,
      signal: options.signal,
      ...(options.metadataOnly ? { headers: { accept: metadataAccept('PartialObjectMetadata') } } : {}),
    });
    if (response.statusCode === 200) return response;
    response.destroy();
    throw apiErrorOf(response.statusCode ?? 0, `GET ${path}?watch`, '');
  }

  const write = (
    method: string,
    path: string,
    body: JsonObject | readonly PatchOperation[] | undefined,
    { dryRun, fieldManager, ...options }: WriteOptions,
    contentType = 'application/json',
    force = false,
  ) =>
    call({
      method,
      path: `${path}${query({ ...(dryRun ? { dryRun: 'All' } : {}), ...(fieldManager === undefined ? {} : { fieldManager }), ...(force ? { force: 'true' } : {}) })}`,
      ...(body === undefined ? {} : { body: stringifyJson(body), headers: { 'content-type': contentType } }),
      ...options,
    });

  return {
    get: (type, place, options = {}) => call({ method: 'GET', path: pathOf(type, place), ...options }),
    list,
    watch,
    create: (type, object, options = {}) => {
      const namespace = readText(readObject(object, 'metadata') ?? {}, 'namespace');
      return write('POST', pathOf(type, namespace === undefined ? {} : { namespace }), object, options);
    },
    update: (type, object, { subresource, ...options } = {}) =>
      write('PUT', pathOf(type, placeOf(object, subresource)), object, options),
    patch: (type, place, patch, options = {}) =>
      write(
        'PATCH',
        pathOf(type, place),
        patch,
        options,
        Array.isArray(patch) ? 'application/json-patch+json' : 'application/merge-patch+json',
      ),
    apply: (type, object, options = {}) =>
      write('PATCH', pathOf(type, placeOf(object)), object, options, 'application/apply-patch+yaml', true),
    delete: async (type, place, { preconditions, ...options } = {}) => {
      const body = preconditions === undefined ? undefined : { preconditions: { ...preconditions } };
      await write('DELETE', pathOf(type, place), body, options);
    },
    raw,
    now: () => transport.now(),
    close: () => transport.close(),
  };
}

/** The location of an object, from its metadata. */
export function placeOf(object: JsonObject, subresource?: string): ObjectPlace {
  const metadata = readObject(object, 'metadata') ?? {};
  const namespace = readText(metadata, 'namespace');
  return {
    name: readText(metadata, 'name') ?? '',
    ...(namespace === undefined ? {} : { namespace }),
    subresource,
  };
}

function selectors({ labelSelector, fieldSelector }: ListOptions): Record<string, string> {
  return {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}

function query(parameters: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(parameters).toString();
  return text === '' ? '' : `?${text}`;
}

function itemsOf(list: JsonObject): readonly JsonObject[] {
  const items = member(list, 'items');
  return isArray(items) ? items.filter(isObject) : [];
}

function parseBody(text: string, contentType: string): Json | string {
  if (!contentType.includes('json')) return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
