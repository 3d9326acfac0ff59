import { kindOf } from '../admission/resource-request.ts';
import type { DataAnswer, DataQuery, DataSource } from '../engine/context/data-source.ts';
import { parseLabelQuery } from '../expression/label-query.ts';
import { type Environment, Suspend } from '../expression/scope.ts';
import { metadataOf } from '../json/metadata.ts';
import { readObject, readObjects, readText } from '../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject } from '../json/value.ts';
import { openApiOfCrd } from '../patch/structured/crd.ts';
import { isNamespacedKind } from '../policy/cluster-scoped-kinds.ts';
import { scopeViolation } from '../policy/policy-scope.ts';
import { resourceOf } from '../policy/resource-name.ts';
import type { Problem } from '../problem.ts';
import { type ApiPath, parseApiPath } from './api-path.ts';
import { searchIn } from './global-context-mock.ts';
import { namespaceOf } from './object-identity.ts';

export interface CannedData {
  /** Namespace labels from a values file. */
  readonly namespaces?: ReadonlyMap<string, JsonObject> | undefined;
  /** Responses to API calls by `urlPath` or `METHOD urlPath`. */
  readonly apiCalls?: ReadonlyMap<string, { readonly status: number; readonly body: Json }> | undefined;
  readonly globalReferences?: ReadonlyMap<string, Json> | undefined;
  /** Called for each call that is not made although its answer may matter. */
  readonly notCalled?: ((call: string) => void) | undefined;
  /** The objects of a kind that is not among the given ones are missing, not an empty list. */
  readonly strict?: boolean | undefined;
  /** Data of images by reference. */
  readonly images?: ReadonlyMap<string, Json> | undefined;
}

/** A data source that answers queries from given objects instead of a cluster. */
export function createInputDataSource(
  objects: Iterable<JsonObject>,
  environment: Environment,
  canned: CannedData = {},
): DataSource {
  const byKind = new Map<string, JsonObject[]>();
  /** One document per definition, so that its schemas are converted once. */
  const schemas = new Map<JsonObject, JsonObject>();
  for (const object of objects) {
    const kind = kindOf(object).kind;
    const known = byKind.get(kind);
    if (known === undefined) byKind.set(kind, [object]);
    else known.push(object);
  }
  const find = (kind: string, name: string, namespace: string | undefined) =>
    byKind
      .get(kind)
      ?.find(
        (object) =>
          metadataOf(object)['name'] === name &&
          (namespace === undefined || namespaceOf(object) === namespace),
      );

  function read(query: DataQuery): DataAnswer {
    switch (query.type) {
      case 'configMap':
        return answer(
          find('ConfigMap', query.name, query.namespace),
          `ConfigMap ${query.namespace}/${query.name}`,
        );
      case 'object':
        return readNamed(query);
      case 'namespaceLabels':
        return { found: true, value: namespaceLabels(query.namespace) };
      case 'apiCall':
        return callApi(query);
      case 'globalReference':
        return readGlobal(query.name, query.policyNamespace);
      case 'imageRegistry':
        return readImage(query.reference);
      case 'schema':
        return findSchema(query.apiVersion, query.kind);
    }
  }

  function findSchema(apiVersion: string, kind: string): DataAnswer {
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const definition = byKind.get('CustomResourceDefinition')?.find((one) => {
      const spec = readObject(one, 'spec') ?? {};
      return (
        readText(spec, 'group') === group &&
        readText(readObject(spec, 'names') ?? {}, 'kind') === kind &&
        readObjects(spec, 'versions').some((served) => readText(served, 'name') === version)
      );
    });
    if (definition === undefined) return missing(`the CustomResourceDefinition of ${kind}`);
    const document = schemas.get(definition) ?? openApiOfCrd(definition);
    schemas.set(definition, document);
    return { found: true, value: document };
  }

  function readImage(reference: string): DataAnswer {
    const value = canned.images?.get(reference);
    return value === undefined
      ? missing(`image ${reference} (registries are not contacted)`)
      : { found: true, value };
  }

  function namespaceLabels(name: string): JsonObject {
    const given = canned.namespaces?.get(name);
    if (given !== undefined) return given;
    const labels = metadataOf(find('Namespace', name, undefined) ?? {})['labels'];
    // The API server sets this label on every namespace.
    return { 'kubernetes.io/metadata.name': name, ...(isObject(labels) ? labels : {}) };
  }

  function callApi(query: Extract<DataQuery, { type: 'apiCall' }>): DataAnswer {
    const service = isObject(query.service ?? null) ? (query.service as JsonObject)['url'] : undefined;
    const url = query.urlPath ?? (typeof service === 'string' ? service : '');
    const violation = callViolation(query, url);
    if (violation !== undefined) return denied(violation);
    const reply = canned.apiCalls?.get(`${query.method} ${url}`) ?? canned.apiCalls?.get(url);
    if (reply !== undefined) {
      if (reply.status >= 200 && reply.status < 300) return { found: true, value: reply.body };
      return { found: false, error: `${query.method} ${url} returned ${reply.status}` };
    }
    const path =
      query.method === 'GET' && query.urlPath !== undefined ? parseApiPath(query.urlPath) : undefined;
    if (path === undefined) return missing(`response to ${query.method} ${url}`);
    if (path.name === undefined && !isGiven(path)) {
      if (canned.strict === true) return missing(`response to GET ${url}`);
      canned.notCalled?.(`GET ${url}`);
    }
    return path.name === undefined
      ? list(path)
      : answer(
          objectsAt(path).find((object) => metadataOf(object)['name'] === path.name),
          query.urlPath ?? '',
        );
  }

  function readNamed(query: ObjectQuery): DataAnswer {
    const { kind, group = '', version = '', namespace = '', policyNamespace } = query;
    const violation = scopeViolation(policyNamespace, {
      type: 'object',
      kind,
      namespaced: isNamespacedKind(
        query.group === undefined ? '*' : group === '' ? version : `${group}/${version}`,
        kind,
        byKind.get('CustomResourceDefinition'),
      ),
      namespace,
    });
    if (violation !== undefined) return denied(violation);
    return answerOneOrSeveral(findObjects(byKind.get(kind) ?? [], query), query);
  }

  function objectsAt(path: ApiPath): JsonObject[] {
    const found: JsonObject[] = [];
    for (const [kind, objects] of byKind) {
      if (resourceOf(kind) !== path.resource) continue;
      for (const object of objects) {
        const { group, version } = kindOf(object);
        if (group !== path.group || version !== path.version) continue;
        if (path.namespace === undefined || namespaceOf(object) === path.namespace) found.push(object);
      }
    }
    return found;
  }

  function isGiven({ resource }: ApiPath): boolean {
    return [...byKind.keys()].some((kind) => resourceOf(kind) === resource);
  }

  function list(path: ApiPath): DataAnswer {
    const selects = path.labelSelector === undefined ? () => true : parseLabelQuery(path.labelSelector);
    if (selects === undefined)
      return { found: false, error: `the label selector ${path.labelSelector} is invalid` };
    const objects = objectsAt(path);
    const items = objects.filter((object) => {
      const labels = metadataOf(object)['labels'];
      return selects(isObject(labels) ? labels : {});
    });
    const apiVersion = path.group === '' ? path.version : `${path.group}/${path.version}`;
    const kind = objects[0] === undefined ? 'List' : `${kindOf(objects[0]).kind}List`;
    return { found: true, value: { apiVersion, kind, metadata: {}, items } };
  }

  /** `entry`, or `entry.projection`. */
  function readGlobal(reference: string, policyNamespace: string | undefined): DataAnswer {
    const dot = reference.indexOf('.');
    const name = dot < 0 ? reference : reference.slice(0, dot);
    const entry = find('GlobalContextEntry', name, undefined);
    if (entry !== undefined) {
      const annotations = metadataOf(entry)['annotations'];
      const violation = scopeViolation(policyNamespace, {
        type: 'globalContextEntry',
        name,
        annotations: isObject(annotations) ? annotations : {},
      });
      if (violation !== undefined) return denied(violation);
    }
    const given = canned.globalReferences?.get(reference);
    if (given !== undefined) return { found: true, value: given };
    const spec = isObject(entry?.['spec']) ? entry['spec'] : {};
    const whole = canned.globalReferences?.get(name) ?? objectsOfEntry(spec);
    if (whole === undefined) return missing(`GlobalContextEntry ${name}`);
    return dot < 0
      ? { found: true, value: whole }
      : projectGlobal(spec, reference.slice(dot + 1), whole, environment);
  }

  function objectsOfEntry(spec: JsonObject): Json | undefined {
    const wanted = spec['kubernetesResource'];
    if (!isObject(wanted)) return undefined;
    const text = (key: string) => (typeof wanted[key] === 'string' ? wanted[key] : '');
    const namespace = text('namespace');
    const path = { group: text('group'), version: text('version'), resource: text('resource') };
    return objectsAt(namespace === '' ? path : { ...path, namespace });
  }

  return { read };
}

type ObjectQuery = Extract<DataQuery, { type: 'object' }>;

function findObjects(objects: readonly JsonObject[], query: ObjectQuery): readonly JsonObject[] {
  return objects.filter((object) => {
    const { group, version } = kindOf(object);
    return (
      metadataOf(object)['name'] === query.name &&
      (query.group === undefined || query.group === group) &&
      (query.version === undefined || query.version === version) &&
      (query.namespace === undefined || query.namespace === namespaceOf(object))
    );
  });
}

function answerOneOrSeveral(objects: readonly JsonObject[], query: ObjectQuery): DataAnswer {
  return objects.length > 1
    ? { found: true, value: objects }
    : answer(objects[0], `${query.kind} ${query.name}`);
}

function projectGlobal(spec: JsonObject, name: string, whole: Json, environment: Environment): DataAnswer {
  const projections = isArray(spec['projections']) ? spec['projections'] : [];
  const projection = projections.find((one) => isObject(one) && one['name'] === name);
  const text = isObject(projection) ? projection['jmesPath'] : undefined;
  if (typeof text !== 'string') return { found: false, error: `there is no projection ${name}` };
  try {
    return { found: true, value: searchIn(whole, text, environment) };
  } catch (error) {
    if (error instanceof Suspend) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return { found: false, error: `projection ${name}: ${reason}` };
  }
}

function callViolation(query: Extract<DataQuery, { type: 'apiCall' }>, url: string): string | undefined {
  if (query.urlPath !== undefined) {
    return scopeViolation(query.policyNamespace, { type: 'path', urlPath: query.urlPath });
  }
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  return scopeViolation(query.policyNamespace, { type: 'service', host, allowedHosts: [] });
}

function denied(error: string): DataAnswer {
  return { found: false, error, denied: true };
}

function answer(object: JsonObject | undefined, what: string): DataAnswer {
  return object === undefined ? missing(what) : { found: true, value: object };
}

/** The warning about a call that was not made. */
export function notCalledProblem(call: string, hint: string): Problem {
  return {
    code: 'KYM_CALL_NOT_MADE',
    severity: 'warning',
    message: `${call} was not called, and no object of this kind is given: the policy sees an empty list`,
    hint,
    pointer: '',
  };
}

function missing(what: string): DataAnswer {
  return {
    found: false,
    error: `${what} is neither in the given resources nor in the values`,
    absent: true,
  };
}
