import type { DataAnswer, DataQuery } from '../../engine/context/data-source.ts';
import { parseDuration } from '../../expression/duration.ts';
import { compileExpression } from '../../expression/expression.ts';
import { type Environment, untilReady } from '../../expression/scope.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import type { Json, JsonObject } from '../../json/value.ts';
import type { ApiClient } from '../api/client.ts';
import { messageOf } from '../api/cluster-error.ts';
import type { KindTable } from '../api/discovery.ts';
import { startInformer } from '../api/informer.ts';

export type ApiCall = (query: Extract<DataQuery, { type: 'apiCall' }>) => Promise<DataAnswer>;

export interface GlobalContextOptions {
  readonly client: ApiClient;
  readonly kinds: () => KindTable;
  readonly call: ApiCall;
  readonly environment: Environment;
  /** Called when the data, or the reason why there is none, changed. */
  readonly onChange?: (() => void) | undefined;
}

/** The data source of an entry. */
export interface GlobalSource {
  data(): DataAnswer;
  /** When data was last fetched, in ms since the epoch. */
  refreshedAt(): number | undefined;
  stop(): Promise<void>;
}

const defaultIntervalMs = 10 * 60_000;
const shortestIntervalMs = 1_000;
const retryMs = 10_000;

/** The entry must be valid. */
export function startSource(spec: JsonObject, options: GlobalContextOptions): GlobalSource {
  const resource = readObject(spec, 'kubernetesResource');
  return resource === undefined
    ? callSource(readObject(spec, 'apiCall') ?? {}, options)
    : resourceSource(resource, options);
}

function resourceSource(wanted: JsonObject, { client, kinds, onChange }: GlobalContextOptions): GlobalSource {
  const group = readText(wanted, 'group') ?? '';
  const version = readText(wanted, 'version') ?? '';
  const resource = readText(wanted, 'resource') ?? '';
  const namespace = readText(wanted, 'namespace') ?? '';
  const kind = kinds().kindOfResource({ group, version, resource })?.kind ?? '';
  let failure = '';
  let listedAt: number | undefined;
  const informer = startInformer({
    client,
    type: { group, version, resource, namespaced: namespace !== '' },
    kind,
    select: namespace === '' ? {} : { namespace },
    onError(error) {
      failure = `: ${messageOf(error)}`;
      if (listedAt === undefined) onChange?.();
    },
  });
  void informer.synced.then(() => {
    listedAt = Date.now();
    onChange?.();
  });
  let seen: { readonly mark: number; readonly value: Json } | undefined;
  return {
    data() {
      if (!informer.hasSynced()) return missing(`${resource} are not listed yet${failure}`);
      // Rebuilt only after a change.
      const mark = informer.lastContact();
      if (seen?.mark !== mark) seen = { mark, value: [...informer.values()] };
      return { found: true, value: seen.value };
    },
    refreshedAt: () => listedAt,
    stop: () => informer.stop(),
  };
}

function callSource(
  apiCall: JsonObject,
  { call, environment, onChange }: GlobalContextOptions,
): GlobalSource {
  const interval = parseDuration(readText(apiCall, 'refreshInterval') ?? '');
  const intervalMs =
    interval === undefined ? defaultIntervalMs : Math.max(Number(interval) / 1e6, shortestIntervalMs);
  const jmesPath = readText(apiCall, 'jmesPath');
  let answer: DataAnswer = missing('the call has no response yet');
  let refreshedAt: number | undefined;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  async function refresh(): Promise<void> {
    try {
      const fresh = await call(queryOf(apiCall));
      // Keep old data while a service is unavailable.
      if (fresh.found) {
        const value =
          jmesPath === undefined
            ? fresh.value
            : await untilReady(() => compileExpression(jmesPath).search(fresh.value, environment));
        answer = { found: true, value };
        refreshedAt = Date.now();
      } else if (!answer.found) answer = fresh;
    } catch {
      // The error may quote data.
      if (!answer.found) answer = missing('the expression cannot be evaluated on the response of the call');
    }
    if (stopped) return;
    timer = setTimeout(() => void refresh(), answer.found ? intervalMs : Math.min(intervalMs, retryMs));
    onChange?.();
  }
  const first = refresh();
  return {
    data: () => answer,
    refreshedAt: () => refreshedAt,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await first;
    },
  };
}

function queryOf(apiCall: JsonObject): Extract<DataQuery, { type: 'apiCall' }> {
  const urlPath = readText(apiCall, 'urlPath');
  const service = readObject(apiCall, 'service');
  const data = readObjects(apiCall, 'data').map(
    (item) => [readText(item, 'key') ?? '', item['value'] ?? null] as const,
  );
  return {
    type: 'apiCall',
    method: readText(apiCall, 'method') === 'POST' ? 'POST' : 'GET',
    urlPath,
    service,
    ...(data.length === 0 ? {} : { body: Object.fromEntries(data) }),
  };
}

function missing(error: string): DataAnswer {
  return { found: false, error };
}
