import type { DataAnswer } from '../../engine/context/data-source.ts';
import { parseJson } from '../../json/json-text.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import { isObject, type JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { apiErrorOf, messageOf } from '../api/cluster-error.ts';
import { isObjectName } from '../api/resource-path.ts';

export interface OpenApiDocuments {
  /** The OpenAPI v3 document that declares a kind: the same object while it is valid. */
  read(apiVersion: string, kind: string, limits: OpenApiLimits): DataAnswer | Promise<DataAnswer>;
  /** Call it when kinds were added, changed or removed. */
  outdate(): void;
}

export interface OpenApiLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export interface OpenApiTiming {
  now(): number;
  /** How long the list of documents is used. The API server publishes a changed kind with a delay, without notice. */
  readonly listLifeMs: number;
  /** How soon the list is read again for a kind that its document does not declare. */
  readonly retryMs: number;
}

interface KnownDocument {
  /** Contains the hash of the document. */
  readonly url: string;
  readonly document: JsonObject;
  /** `group/version/kind`. */
  readonly kinds: ReadonlySet<string>;
}

interface DocumentList {
  readonly readAt: number;
  /** The URLs of documents, by path: `apis/apps/v1`. */
  readonly urls: ReadonlyMap<string, string>;
}

const systemTiming: OpenApiTiming = { now: () => performance.now(), listLifeMs: 10_000, retryMs: 1_000 };
/** A document can be megabytes large. */
const mostDocuments = 20;

/** Reads the OpenAPI v3 documents of the API server: one per group and version, again only if its hash changed. */
export function createOpenApiDocuments(
  client: ApiClient,
  { now, listLifeMs, retryMs }: OpenApiTiming = systemTiming,
): OpenApiDocuments {
  // The document that was used last is the last one.
  const known = new Map<string, KnownDocument>();
  const reading = new Map<string, Promise<KnownDocument>>();
  let list: DocumentList | undefined;
  let listing: Promise<DocumentList> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;

  async function fetch(path: string, { timeoutMs, maxBytes }: OpenApiLimits): Promise<JsonObject> {
    const { status, body } = await client.raw({ method: 'GET', path, timeoutMs, maxBytes });
    if (status !== 200) throw apiErrorOf(status, `GET ${path.split('?', 1)[0]}`, body);
    // The API server declares the list as plain text.
    const parsed = typeof body === 'string' ? parseJson(body) : body;
    return isObject(parsed) ? parsed : {};
  }

  async function readList(limits: OpenApiLimits): Promise<DocumentList> {
    const readAt = now();
    const paths = readObject(await fetch('/openapi/v3', limits), 'paths') ?? {};
    const urls = Object.entries(paths).map(
      ([path, entry]) => [path, (isObject(entry) && readText(entry, 'serverRelativeURL')) || ''] as const,
    );
    return { readAt, urls: new Map(urls) };
  }

  function currentList(limits: OpenApiLimits): Promise<DocumentList> {
    if (listing !== undefined) return listing;
    const started: Promise<DocumentList> = readList(limits)
      .then(
        (found) => {
          // It is outdated if kinds changed in the meantime.
          if (listing === started) list = found;
          return found;
        },
        (error: unknown) => {
          failedAt = now();
          throw error;
        },
      )
      .finally(() => {
        if (listing === started) listing = undefined;
      });
    listing = started;
    return started;
  }

  function keep(path: string, found: KnownDocument): void {
    known.delete(path);
    known.set(path, found);
    const [oldest] = known.keys();
    if (known.size > mostDocuments && oldest !== undefined) known.delete(oldest);
  }

  async function update(path: string, limits: OpenApiLimits): Promise<KnownDocument | undefined> {
    const url = (await currentList(limits)).urls.get(path);
    if (url === undefined || !url.startsWith('/')) {
      known.delete(path);
      return undefined;
    }
    const before = known.get(path);
    if (before?.url === url) return before;
    const read =
      reading.get(url) ??
      fetch(url, limits)
        .then((document): KnownDocument => ({ url, document, kinds: kindsOf(document) }))
        .finally(() => reading.delete(url));
    reading.set(url, read);
    const found = await read;
    keep(path, found);
    return found;
  }

  async function readAgain(
    path: string,
    apiVersion: string,
    kind: string,
    limits: OpenApiLimits,
  ): Promise<DataAnswer> {
    try {
      return answer(await update(path, limits), apiVersion, kind);
    } catch (error) {
      // An earlier document is better than none.
      const before = known.get(path);
      if (before !== undefined) return answer(before, apiVersion, kind);
      return {
        found: false,
        error: `the schema of ${apiVersion} ${kind} cannot be read: ${messageOf(error)}`,
      };
    }
  }

  return {
    read(apiVersion, kind, limits) {
      const path = pathOf(apiVersion);
      if (path === undefined) return answer(undefined, apiVersion, kind);
      const found = known.get(path);
      const age = list === undefined ? Number.POSITIVE_INFINITY : now() - list.readAt;
      const again = () => readAgain(path, apiVersion, kind, limits);
      if (found?.kinds.has(`${apiVersion}/${kind}`)) {
        const hasFailed = now() - failedAt <= retryMs;
        if (age > listLifeMs && !hasFailed) {
          const fresh = again();
          // A request waits only if kinds changed. An API server that does not answer must not delay all of them.
          if (list === undefined) return fresh;
        }
        keep(path, found);
        return answer(found, apiVersion, kind);
      }
      if (age > retryMs) return again();
      if (found === undefined) {
        const isPublished = list?.urls.has(path) ?? true;
        return isPublished ? again() : answer(undefined, apiVersion, kind);
      }
      keep(path, found);
      return answer(found, apiVersion, kind);
    },
    outdate() {
      list = undefined;
      listing = undefined;
    },
  };
}

function answer(found: KnownDocument | undefined, apiVersion: string, kind: string): DataAnswer {
  if (found?.kinds.has(`${apiVersion}/${kind}`)) return { found: true, value: found.document };
  return { found: false, error: `the API server publishes no schema of ${apiVersion} ${kind}`, absent: true };
}

/** Undefined for what is no apiVersion. */
function pathOf(apiVersion: string): string | undefined {
  const parts = apiVersion.split('/');
  if (parts.length > 2 || !parts.every(isObjectName)) return undefined;
  return parts.length === 1 ? `api/${apiVersion}` : `apis/${apiVersion}`;
}

function kindsOf(document: JsonObject): ReadonlySet<string> {
  const schemas = readObject(readObject(document, 'components') ?? {}, 'schemas') ?? {};
  return new Set(
    Object.values(schemas).flatMap((schema) =>
      isObject(schema)
        ? readObjects(schema, 'x-kubernetes-group-version-kind').map((each) => {
            const group = readText(each, 'group') ?? '';
            return `${group === '' ? '' : `${group}/`}${readText(each, 'version')}/${readText(each, 'kind')}`;
          })
        : [],
    ),
  );
}
