import type { DataAnswer, DataQuery, DataSource } from '../../src/engine/data-source.ts';
import { isObject, type JsonObject } from '../../src/json/value.ts';

/** A data source over a fixed set of objects, as far as conformance cases need one. */
export function clusterOf(
  objects: readonly JsonObject[],
  namespaceLabels: ReadonlyMap<string, JsonObject>,
): DataSource {
  return { read: (query) => answer(query, objects, namespaceLabels) };
}

function answer(
  query: DataQuery,
  objects: readonly JsonObject[],
  namespaceLabels: ReadonlyMap<string, JsonObject>,
): DataAnswer {
  switch (query.type) {
    case 'configMap':
      return found(
        objects.find(
          (object) => object['kind'] === 'ConfigMap' && isNamed(object, query.name, query.namespace),
        ),
        `ConfigMap ${query.namespace}/${query.name} not found`,
      );
    case 'object':
      return found(
        objects.find((object) => isOfKind(object, query) && isNamed(object, query.name, query.namespace)),
        `${query.kind} ${query.name} not found`,
      );
    case 'apiCall':
      return query.method === 'GET' && query.urlPath !== undefined
        ? getPath(query.urlPath, objects)
        : { found: false, error: 'only GET of a path is answered' };
    case 'namespaceLabels':
      return {
        found: true,
        value: namespaceLabels.get(query.namespace) ?? labelsFrom(objects, query.namespace),
      };
    default:
      return { found: false, error: `${query.type} is not answered` };
  }
}

/** `/api/v1/namespaces/NS/PLURAL[/NAME]`, `/apis/GROUP/VERSION/PLURAL[/NAME]` and so on. */
function getPath(urlPath: string, objects: readonly JsonObject[]): DataAnswer {
  const segments = (urlPath.split('?', 1)[0] ?? '').split('/').filter((segment) => segment !== '');
  const [root, ...rest] = segments;
  const apiVersion = root === 'apis' ? `${rest[0]}/${rest[1]}` : rest[0];
  let path = rest.slice(root === 'apis' ? 2 : 1);
  let namespace: string | undefined;
  if (path[0] === 'namespaces' && path.length > 2) {
    namespace = path[1];
    path = path.slice(2);
  }
  const [plural, name] = path;
  const items = objects.filter(
    (object) =>
      object['apiVersion'] === apiVersion &&
      pluralOf(String(object['kind'])) === plural &&
      (namespace === undefined || metadataOf(object)['namespace'] === namespace),
  );
  if (name === undefined)
    return { found: true, value: { apiVersion: apiVersion ?? '', kind: 'List', items } };
  return found(
    items.find((object) => metadataOf(object)['name'] === name),
    `${urlPath} not found`,
  );
}

function pluralOf(kind: string): string {
  const lower = kind.toLowerCase();
  if (lower.endsWith('y')) return `${lower.slice(0, -1)}ies`;
  return lower.endsWith('s') ? `${lower}es` : `${lower}s`;
}

function labelsFrom(objects: readonly JsonObject[], namespace: string): JsonObject {
  const object = objects.find(
    (candidate) => candidate['kind'] === 'Namespace' && metadataOf(candidate)['name'] === namespace,
  );
  const labels = object && metadataOf(object)['labels'];
  return isObject(labels) ? labels : {};
}

function isOfKind(object: JsonObject, query: Extract<DataQuery, { type: 'object' }>): boolean {
  const parts = String(object['apiVersion'] ?? '').split('/');
  const [group, version] = parts.length > 1 ? parts : ['', parts[0]];
  return (
    object['kind'] === query.kind &&
    (query.group === undefined || query.group === group) &&
    (query.version === undefined || query.version === version)
  );
}

function isNamed(object: JsonObject, name: string, namespace: string | undefined): boolean {
  const metadata = metadataOf(object);
  return (
    metadata['name'] === name &&
    (namespace === undefined || (metadata['namespace'] ?? 'default') === namespace)
  );
}

function metadataOf(object: JsonObject): JsonObject {
  return isObject(object['metadata']) ? object['metadata'] : {};
}

function found(value: JsonObject | undefined, error: string): DataAnswer {
  return value === undefined ? { found: false, error } : { found: true, value };
}
