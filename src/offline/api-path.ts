/** A parsed URL path of the Kubernetes API. */
export interface ApiPath {
  readonly group: string;
  readonly version: string;
  readonly namespace?: string | undefined;
  /** Plural, lower case: `configmaps`. */
  readonly resource: string;
  /** Absent for a list. */
  readonly name?: string | undefined;
  readonly labelSelector?: string | undefined;
}

/** Undefined for paths that address neither an object nor a list (`/version`, subresources). */
export function parseApiPath(urlPath: string): ApiPath | undefined {
  let url: URL;
  try {
    url = new URL(urlPath, 'https://api.invalid');
  } catch {
    return undefined;
  }
  const segments = url.pathname
    .split('/')
    .filter((segment) => segment !== '')
    .map(decode);
  const [root, ...rest] = segments;
  const group = root === 'apis' ? rest.shift() : root === 'api' ? '' : undefined;
  const version = rest.shift();
  if (group === undefined || version === undefined) return undefined;
  const isNamespaced = rest[0] === 'namespaces' && rest.length > 2;
  const namespace = isNamespaced ? rest.splice(0, 2)[1] : undefined;
  const [resource, name, ...subresource] = rest;
  if (resource === undefined || subresource.length > 0) return undefined;
  const labelSelector = url.searchParams.get('labelSelector');
  return {
    group,
    version,
    resource,
    namespace,
    name,
    ...(labelSelector === null ? {} : { labelSelector }),
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
