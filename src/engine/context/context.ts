import { EvaluationError, type Scope } from '../../expression/scope.ts';
import { isObject, type Json, type JsonObject } from '../../json/value.ts';
import type { CompiledContextEntry } from '../../policy/compiled.ts';
import { type PolicyAccess, scopeViolation } from '../../policy/policy-scope.ts';
import { type ContextBudget, chargeContext } from './context-size.ts';
import type { DataCache } from './data-cache.ts';
import type { DataAnswer } from './data-source.ts';
import { EntryLayer } from './scope-layers.ts';

export interface ContextSettings {
  readonly data: DataCache;
  /** Namespace of a namespaced Policy: its context entries may read no other. */
  readonly policyNamespace: string | undefined;
  /** Predefined values take precedence: entries with these names are never loaded. */
  readonly bindings: Readonly<Record<string, Json>> | undefined;
  /** The same for one element of a loop. */
  readonly elementBindings?: ((index: number) => Readonly<Record<string, Json>> | undefined) | undefined;
  /** Absent when the size is not limited. */
  readonly budget?: ContextBudget | undefined;
}

/** Values of entries that were read. They do not change when later steps of the rule change the object. */
export type LoadedEntries = Map<CompiledContextEntry, Json>;

const nothingToLoad: LoadedEntries = new Map();

export function loadedEntriesFor(entries: readonly CompiledContextEntry[]): LoadedEntries {
  return entries.length === 0 ? nothingToLoad : new Map();
}

/** Adds one lazy layer per entry; an entry is computed when an expression reads it. */
export function withContext(
  scope: Scope,
  entries: readonly CompiledContextEntry[],
  settings: ContextSettings,
  loaded: LoadedEntries,
): Scope {
  let layered = scope;
  for (const entry of entries) {
    if (settings.bindings !== undefined && Object.hasOwn(settings.bindings, entry.name)) continue;
    layered = new EntryLayer(layered, entry.name, (outer) => {
      const known = loaded.get(entry);
      if (known !== undefined) return known;
      const value = loadEntry(entry, outer, settings);
      loaded.set(entry, value);
      return value;
    });
  }
  return layered;
}

function loadEntry(entry: CompiledContextEntry, scope: Scope, settings: ContextSettings): Json {
  try {
    const value = evaluateEntry(entry, scope, settings);
    if (settings.budget !== undefined) chargeContext(settings.budget, value);
    return value;
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    const code = error.code === 'KYM_NAMESPACE_BOUNDARY' ? error.code : 'KYM_CONTEXT_FAILED';
    throw new EvaluationError(code, `context entry "${entry.name}": ${error.message}`, {
      cause: error,
      location: error.location ?? entry.path,
    });
  }
}

function evaluateEntry(entry: CompiledContextEntry, scope: Scope, settings: ContextSettings): Json {
  switch (entry.type) {
    case 'variable':
      return evaluateVariable(entry, scope);
    case 'configMap':
      return readConfigMap(entry, scope, settings);
    case 'apiCall':
      return callApi(entry, scope, settings);
    case 'imageRegistry': {
      const reference = text(entry.reference.render(scope), 'reference');
      const query = { type: 'imageRegistry', reference } as const;
      const answer = settings.data.read(
        entry.credentials === undefined ? query : { ...query, credentials: entry.credentials },
      );
      return project(need(answer), entry, scope);
    }
    case 'globalReference':
      return readGlobalReference(entry, scope, settings);
  }
}

type Entry<T extends CompiledContextEntry['type']> = Extract<CompiledContextEntry, { type: T }>;

function evaluateVariable(entry: Entry<'variable'>, scope: Scope): Json {
  entry.jmesPath?.resolveVariables(scope);
  const fallback = entry.default?.render(scope) ?? null;
  let output: Json = fallback;
  if (entry.value !== undefined) {
    const value = entry.value.render(scope);
    output =
      entry.jmesPath === undefined
        ? value
        : (attempt(() => entry.jmesPath?.search(value, scope), fallback) ?? null);
  } else if (entry.jmesPath !== undefined) {
    output = attempt(() => entry.jmesPath?.evaluate(scope), fallback) ?? fallback;
  }
  if (output === null) {
    const reason = 'the variable evaluated to null and has no default';
    throw new EvaluationError('KYM_CONTEXT_FAILED', reason, { reason });
  }
  return output;
}

/** A failed expression yields the default; without a default the failure is rethrown. */
function attempt(evaluate: () => Json | undefined, fallback: Json): Json | undefined {
  try {
    return evaluate();
  } catch (error) {
    if (error instanceof EvaluationError && fallback !== null) return fallback;
    throw error;
  }
}

function readConfigMap(entry: Entry<'configMap'>, scope: Scope, settings: ContextSettings): Json {
  const name = text(entry.objectName.render(scope), 'configMap.name');
  const given =
    entry.namespace === undefined ? '' : text(entry.namespace.render(scope), 'configMap.namespace');
  checkScope(settings, { type: 'object', kind: 'ConfigMap', namespaced: true, namespace: given });
  const namespace = settings.policyNamespace ?? (given || 'default');
  const object = need(settings.data.read({ type: 'configMap', namespace, name }));
  const data = isObject(object) ? (object['data'] ?? {}) : {};
  const metadata = isObject(object) ? (object['metadata'] ?? {}) : {};
  return { data, metadata };
}

function callApi(entry: Entry<'apiCall'>, scope: Scope, settings: ContextSettings): Json {
  const fallback = entry.default?.render(scope);
  const urlPath =
    entry.urlPath === undefined ? undefined : text(entry.urlPath.render(scope), 'apiCall.urlPath');
  if (urlPath !== undefined) checkScope(settings, { type: 'path', urlPath });
  const body = entry.data === undefined ? undefined : requestBody(entry.data.render(scope));
  const service = entry.service?.render(scope);
  const answer = settings.data.read({
    type: 'apiCall',
    method: entry.method,
    urlPath,
    service,
    body,
    policyNamespace: settings.policyNamespace,
  });
  if (!answer.found && answer.denied !== true && fallback !== undefined) return fallback;
  return project(need(answer), entry, scope);
}

function requestBody(data: Json): JsonObject {
  const body: Record<string, Json> = {};
  if (Array.isArray(data)) {
    for (const item of data as readonly Json[]) {
      if (isObject(item)) {
        Object.defineProperty(body, String(item['key'] ?? ''), {
          value: item['value'] ?? null,
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
    }
  }
  return body;
}

function readGlobalReference(entry: Entry<'globalReference'>, scope: Scope, settings: ContextSettings): Json {
  const name = text(entry.reference.render(scope), 'globalReference.name');
  const answer = settings.data.read({
    type: 'globalReference',
    name,
    policyNamespace: settings.policyNamespace,
  });
  return project(need(answer), entry, scope);
}

function project(
  value: Json,
  entry: { readonly jmesPath?: { search(data: Json, scope: Scope): Json } | undefined },
  scope: Scope,
): Json {
  return entry.jmesPath === undefined ? value : entry.jmesPath.search(value, scope);
}

/** Throws if a namespaced Policy leaves its namespace. */
export function checkScope(settings: Pick<ContextSettings, 'policyNamespace'>, access: PolicyAccess): void {
  const violation = scopeViolation(settings.policyNamespace, access);
  if (violation !== undefined) throw new EvaluationError('KYM_NAMESPACE_BOUNDARY', violation);
}

function need(answer: DataAnswer): Json {
  if (answer.found) return answer.value;
  throw new EvaluationError(
    answer.denied === true ? 'KYM_NAMESPACE_BOUNDARY' : 'KYM_CONTEXT_FAILED',
    answer.error,
    { reason: answer.reason },
  );
}

function text(value: Json, field: string): string {
  if (typeof value === 'string') return value;
  const reason = `${field} must be a string`;
  throw new EvaluationError('KYM_CONTEXT_FAILED', reason, { reason });
}
