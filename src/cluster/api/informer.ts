import { equal } from '../../json/equal.ts';
import { readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { type BackOffLimits, backOffMs, sleep } from './back-off.ts';
import type { ApiClient, ListOptions } from './client.ts';
import { hasStatus } from './cluster-error.ts';
import { apiVersionOf, type ResourceType } from './resource-path.ts';
import { readWatch } from './watch-stream.ts';

export interface Change {
  /** `namespace/name`, or `name`. */
  readonly key: string;
  /** Absent after a deletion. */
  readonly object?: JsonObject | undefined;
  readonly previous?: JsonObject | undefined;
}

export interface InformerOptions {
  readonly client: ApiClient;
  readonly type: ResourceType;
  /** Items of a list have no kind; the informer adds this one. */
  readonly kind: string;
  readonly select?:
    | Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector' | 'metadataOnly'>
    | undefined;
  /** Reduces an object to the part that is kept in memory. */
  readonly keep?: ((object: JsonObject) => JsonObject) | undefined;
  readonly onChange?: ((change: Change) => void) | undefined;
  readonly onError?: ((error: unknown, failures: number) => void) | undefined;
  /** Lists all objects at this interval if they may be listed and not watched. Without it, a refused watch is an error. */
  readonly pollMs?: number | undefined;
  /** Called once when the API server refuses the watch, until it accepts one. */
  readonly onPoll?: ((error: unknown) => void) | undefined;
  readonly timing?: Partial<InformerTiming> | undefined;
}

export interface InformerTiming {
  /** The API server ends each watch after about this time; the informer resumes it. */
  readonly watchSeconds: number;
  /** All objects are listed again after about this time. */
  readonly resyncMs: number;
  readonly backOff: BackOffLimits;
}

export interface Informer {
  /** Resolves after the first list; never rejects. */
  readonly synced: Promise<void>;
  hasSynced(): boolean;
  get(key: string): JsonObject | undefined;
  values(): IterableIterator<JsonObject>;
  size(): number;
  /** When the API server last sent something, in ms since the epoch; 0 before that. */
  lastContact(): number;
  stop(): Promise<void>;
}

const defaultTiming: InformerTiming = {
  watchSeconds: 40,
  resyncMs: 10 * 60_000,
  backOff: { firstMs: 500, lastMs: 15_000 },
};
/** A watch may last this much longer than requested before the connection counts as dead. */
const graceMs = 5_000;
/**
 * The API server sends a bookmark shortly before a watch of this length ends. A watch without any message starts in the future: etcd
 * was restored from a snapshot.
 */
const leastWithBookmark = 10;
/** A watch that ends sooner counts as failed. */
const shortestWatchMs = 1_000;

/** An up-to-date copy of all objects of a kind. It survives restarts of the API server, compaction and dead connections. */
export function startInformer(options: InformerOptions): Informer {
  const { client, type, select = {}, keep = withoutManagedFields, onChange, onError } = options;
  const timing = { ...defaultTiming, ...options.timing };
  const typed = { apiVersion: apiVersionOf(type), kind: options.kind };
  const objects = new Map<string, JsonObject>();
  const stopping = new AbortController();
  let markSynced = () => {};
  const synced = new Promise<void>((resolve) => {
    markSynced = resolve;
  });
  let isSynced = false;
  let resourceVersion: string | undefined;
  let listFresh = false;
  let listedAt = 0;
  let lastContact = 0;
  let isPolling = false;

  function set(item: JsonObject, mayReuseVersions = false): void {
    const object = keep(item['kind'] === undefined || select.metadataOnly ? { ...item, ...typed } : item);
    const key = keyOf(object);
    const previous = objects.get(key);
    const isSame = previous !== undefined && versionOf(previous) === versionOf(object);
    if (isSame && (!mayReuseVersions || equal(previous, object))) return;
    objects.set(key, object);
    onChange?.(previous === undefined ? { key, object } : { key, object, previous });
  }

  function remove(key: string): void {
    const previous = objects.get(key);
    if (objects.delete(key) && previous !== undefined) onChange?.({ key, previous });
  }

  async function list(): Promise<void> {
    const found = await client.list(type, {
      ...select,
      signal: stopping.signal,
      // After a 410 the cache of the API server may be outdated, too.
      ...(listFresh ? {} : { resourceVersion: '0' }),
    });
    const present = new Set(found.items.map(keyOf));
    for (const key of [...objects.keys()]) if (!present.has(key)) remove(key);
    // After a restore, versions are used again.
    for (const item of found.items) set(item, listFresh);
    resourceVersion = found.resourceVersion;
    listFresh = false;
    listedAt = performance.now();
    lastContact = listedAt;
    isSynced = true;
    markSynced();
  }

  function listAgain(): void {
    resourceVersion = undefined;
    listFresh = true;
  }

  async function watch(): Promise<void> {
    const timeoutSeconds = Math.max(1, Math.round(timing.watchSeconds * (0.75 + Math.random() / 4)));
    const stream = await client.watch(type, {
      ...select,
      timeoutSeconds,
      signal: stopping.signal,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    });
    isPolling = false;
    const startedAt = performance.now();
    let messages = 0;
    lastContact = startedAt;
    await readWatch(
      stream,
      (event, object) => {
        messages += 1;
        lastContact = performance.now();
        resourceVersion = versionOf(object) ?? resourceVersion;
        if (event === 'DELETED') remove(keyOf(object));
        else if (event !== 'BOOKMARK') set(object);
      },
      { maximumMs: timeoutSeconds * 1000 + graceMs, signal: stopping.signal },
    );
    const isWhole = performance.now() - startedAt >= (timeoutSeconds - 1) * 1000;
    if (messages === 0 && isWhole && timeoutSeconds >= leastWithBookmark) listAgain();
  }

  /** Waits for the next list. The watch is tried again then: somebody may have granted the permission. */
  async function poll(error: unknown): Promise<void> {
    if (options.pollMs === undefined || !hasStatus(error, 403)) throw error;
    if (!isPolling) options.onPoll?.(error);
    isPolling = true;
    await sleep(options.pollMs, stopping.signal);
  }

  async function follow(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      try {
        if (resourceVersion === undefined || isPolling || startedAt - listedAt > timing.resyncMs)
          await list();
        await watch().catch(poll);
        failures = performance.now() - startedAt < shortestWatchMs ? failures + 1 : 0;
      } catch (error) {
        if (stopping.signal.aborted) return;
        // Etcd may have been restored in an outage, and its versions overtake ours before we notice. Or this version is gone (410).
        listAgain();
        failures = performance.now() - startedAt > timing.backOff.lastMs ? 1 : failures + 1;
        onError?.(error, failures);
      }
      await sleep(backOffMs(failures, timing.backOff), stopping.signal);
    }
  }

  const running = follow();
  return {
    synced,
    hasSynced: () => isSynced,
    get: (key) => objects.get(key),
    values: () => objects.values(),
    size: () => objects.size,
    lastContact: () => lastContact,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

export function keyOf(object: JsonObject): string {
  const metadata = readObject(object, 'metadata') ?? {};
  const name = readText(metadata, 'name') ?? '';
  const namespace = readText(metadata, 'namespace');
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function versionOf(object: JsonObject): string | undefined {
  return readText(readObject(object, 'metadata') ?? {}, 'resourceVersion');
}

/** `managedFields` are often half of an object, and nothing here reads them. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = readObject(object, 'metadata');
  if (metadata === undefined || !Object.hasOwn(metadata, 'managedFields')) return object;
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}
