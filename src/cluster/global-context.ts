import type { DataAnswer, DataQuery } from '../engine/data-source.ts';
import { parseDuration } from '../expression/duration.ts';
import { compileExpression } from '../expression/expression.ts';
import type { Environment } from '../expression/scope.ts';
import type { Json, JsonObject } from '../json/value.ts';
import { readObject, readObjects, readText } from '../policy/read-field.ts';
import type { ApiClient } from './client.ts';
import { messageOf } from './cluster-error.ts';
import type { KindTable } from './discovery.ts';
import { startInformer } from './informer.ts';

export type ApiCall = (query: Extract<DataQuery, { type: 'apiCall' }>) => Promise<DataAnswer>;

export interface GlobalContextOptions {
  readonly client: ApiClient;
  readonly kinds: () => KindTable;
  readonly call: ApiCall;
  readonly environment: Environment;
}

export interface GlobalContext {
  set(name: string, object: JsonObject | undefined): void;
  /** `entry`, or `entry.projection`. */
  read(reference: string): DataAnswer;
  stop(): Promise<void>;
}

interface Source {
  data(): DataAnswer;
  stop(): Promise<void>;
}

interface Entry {
  /** To tell whether the entry changed. */
  readonly text: string;
  readonly source: Source;
  readonly projections: ReadonlyMap<string, string>;
}

const defaultIntervalMs = 10 * 60_000;
const shortestIntervalMs = 1_000;

/** Keeps the data of GlobalContextEntries at hand. */
export function createGlobalContext(options: GlobalContextOptions): GlobalContext {
  const entries = new Map<string, Entry>();
  return {
    set(name, object) {
      const spec = readObject(object ?? {}, 'spec');
      const text = JSON.stringify(spec);
      const known = entries.get(name);
      if (known !== undefined && known.text === text) return;
      void known?.source.stop();
      entries.delete(name);
      if (spec === undefined) return;
      const projections = new Map(
        readObjects(spec, 'projections').map((each) => [
          readText(each, 'name') ?? '',
          readText(each, 'jmesPath') ?? '',
        ]),
      );
      entries.set(name, { text, source: sourceOf(spec, options), projections });
    },
    read(reference) {
      const [name = '', projection] = splitReference(reference, entries);
      const entry = entries.get(name);
      if (entry === undefined) return missing(`GlobalContextEntry ${name} does not exist`);
      const data = entry.source.data();
      if (projection === undefined || !data.found) return data;
      const expression = entry.projections.get(projection);
      if (expression === undefined)
        return missing(`GlobalContextEntry ${name} has no projection ${projection}`);
      try {
        return { found: true, value: compileExpression(expression).search(data.value, options.environment) };
      } catch {
        // The reason may quote data.
        return missing(`projection ${projection} of GlobalContextEntry ${name} cannot be evaluated`);
      }
    },
    async stop() {
      await Promise.all([...entries.values()].map(({ source }) => source.stop()));
    },
  };
}

/** Names of entries may hold dots themselves. */
function splitReference(
  reference: string,
  entries: ReadonlyMap<string, unknown>,
): readonly [string, string?] {
  if (entries.has(reference)) return [reference];
  const dot = reference.lastIndexOf('.');
  return dot < 0 ? [reference] : [reference.slice(0, dot), reference.slice(dot + 1)];
}

function sourceOf(spec: JsonObject, options: GlobalContextOptions): Source {
  const resource = readObject(spec, 'kubernetesResource');
  if (resource !== undefined) return resourceSource(resource, options);
  const apiCall = readObject(spec, 'apiCall');
  if (apiCall !== undefined) return callSource(apiCall, options);
  return {
    data: () => missing('the GlobalContextEntry has neither kubernetesResource nor apiCall'),
    stop: async () => {},
  };
}

function resourceSource(wanted: JsonObject, { client, kinds }: GlobalContextOptions): Source {
  const group = readText(wanted, 'group') ?? '';
  const version = readText(wanted, 'version') ?? '';
  const resource = readText(wanted, 'resource') ?? '';
  const namespace = readText(wanted, 'namespace') ?? '';
  const kind = kinds().kindOfResource({ group, version, resource })?.kind ?? '';
  const informer = startInformer({
    client,
    type: { group, version, resource, namespaced: namespace !== '' },
    kind,
    select: namespace === '' ? {} : { namespace },
  });
  let seen: { readonly mark: number; readonly value: Json } | undefined;
  return {
    data() {
      if (!informer.hasSynced()) return missing(`${resource} are not listed yet`);
      // Made anew only when something was heard of since.
      const mark = informer.lastContact();
      if (seen?.mark !== mark) seen = { mark, value: [...informer.values()] };
      return { found: true, value: seen.value };
    },
    stop: () => informer.stop(),
  };
}

function callSource(apiCall: JsonObject, { call, environment }: GlobalContextOptions): Source {
  const interval = parseDuration(readText(apiCall, 'refreshInterval') ?? '');
  const intervalMs =
    interval === undefined ? defaultIntervalMs : Math.max(Number(interval) / 1e6, shortestIntervalMs);
  const jmesPath = readText(apiCall, 'jmesPath');
  let answer: DataAnswer = missing('the call was not answered yet');
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  async function refresh(): Promise<void> {
    try {
      const fresh = await call(queryOf(apiCall));
      // Old data is better than none while a service is away.
      if (fresh.found) {
        const value =
          jmesPath === undefined ? fresh.value : compileExpression(jmesPath).search(fresh.value, environment);
        answer = { found: true, value };
      } else if (!answer.found) answer = fresh;
    } catch (error) {
      if (!answer.found) answer = missing(messageOf(error));
    }
    if (!stopped)
      timer = setTimeout(() => void refresh(), answer.found ? intervalMs : Math.min(intervalMs, 10_000));
  }
  const first = refresh();
  return {
    data: () => answer,
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
    ...(urlPath === undefined ? {} : { urlPath }),
    ...(service === undefined ? {} : { service }),
    ...(data.length === 0 ? {} : { body: Object.fromEntries(data) }),
  };
}

function missing(error: string): DataAnswer {
  return { found: false, error };
}
