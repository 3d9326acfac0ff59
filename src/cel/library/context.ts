import { type FunctionDeclaration, type Library, overload } from '../types/environment.ts';
import { opaqueType } from '../types/type.ts';
import { Opaque, type Value, type ValueObject } from '../value/value.ts';

/*
 * Kyverno's receivers of data from outside. Their methods are passed in; they throw CelError when a lookup fails, and
 * may throw an error of their own to wait for data.
 */

export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export interface ResourceContext {
  /** Null when the object does not exist. */
  get(apiVersion: string, resource: string, namespace: string, name: string): Value;
  list(apiVersion: string, resource: string, namespace: string, labels: ValueObject): Value;
  post(apiVersion: string, resource: string, namespace: string, object: ValueObject): Value;
  toGroupVersionResource(apiVersion: string, kind: string): GroupVersionResource;
}

export interface HttpContext {
  get(url: string, headers: ValueObject): Value;
  post(url: string, body: Value, headers: ValueObject): Value;
  /** The same with another certificate authority. */
  client(caBundle: string): HttpContext;
}

export interface GlobalContext {
  get(name: string, projection: string): Value;
}

export interface ImageDataContext {
  get(reference: string): Value;
}

const types = {
  resource: 'resource.Context',
  gvr: 'schema.GroupVersionResource',
  http: 'http.Context',
  globalContext: 'globalcontext.Context',
  image: 'imagedata.Context',
};

/** The values of `resource`, `http`, `globalContext` and `image`. */
export const contextValues = {
  resource: (context: ResourceContext): Value => new Opaque(types.resource, context),
  http: (context: HttpContext): Value => new Opaque(types.http, context),
  globalContext: (context: GlobalContext): Value => new Opaque(types.globalContext, context),
  image: (context: ImageDataContext): Value => new Opaque(types.image, context),
};

/** A method under its PascalCase and its camelCase name. */
function method(
  name: string,
  signature: string,
  call: FunctionDeclaration['overloads'][number]['call'],
): FunctionDeclaration[] {
  const camelCase = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  return [overload(name, signature, call), overload(camelCase, signature, call)];
}

const { resource, gvr } = types;
const object = 'map(string, any)';
const labels = 'map(string, string)';
type Resource = Opaque<ResourceContext>;
type Gvr = Opaque<GroupVersionResource>;

function apiVersionOf({ group, version }: GroupVersionResource): string {
  return group === '' ? version : `${group}/${version}`;
}

const toGvr = method(
  'ToGVR',
  `${resource}.(string, string) -> ${gvr}`,
  ({ data }: Resource, apiVersion: string, kind: string) => {
    const found = data.toGroupVersionResource(apiVersion, kind);
    return new Opaque(gvr, found, `${apiVersionOf(found)}/${found.resource}`);
  },
);

/** In a policy for all namespaces each lookup names its namespace. */
const clusterResource: readonly FunctionDeclaration[] = [
  ...toGvr,
  ...method(
    'Get',
    `${resource}.(string, string, string, string) -> ${object}`,
    ({ data }: Resource, apiVersion: string, plural: string, namespace: string, name: string) =>
      data.get(apiVersion, plural, namespace, name),
  ),
  ...method(
    'Get',
    `${resource}.(${gvr}, string, string) -> ${object}`,
    ({ data }: Resource, { data: target }: Gvr, namespace: string, name: string) =>
      data.get(apiVersionOf(target), target.resource, namespace, name),
  ),
  ...method(
    'List',
    `${resource}.(string, string, string) -> ${object}`,
    ({ data }: Resource, apiVersion: string, plural: string, namespace: string) =>
      data.list(apiVersion, plural, namespace, {}),
  ),
  ...method(
    'List',
    `${resource}.(string, string, string, ${labels}) -> ${object}`,
    ({ data }: Resource, apiVersion: string, plural: string, namespace: string, selector: ValueObject) =>
      data.list(apiVersion, plural, namespace, selector),
  ),
  ...method(
    'List',
    `${resource}.(${gvr}, string) -> ${object}`,
    ({ data }: Resource, { data: target }: Gvr, namespace: string) =>
      data.list(apiVersionOf(target), target.resource, namespace, {}),
  ),
  ...method(
    'List',
    `${resource}.(${gvr}, string, ${labels}) -> ${object}`,
    ({ data }: Resource, { data: target }: Gvr, namespace: string, selector: ValueObject) =>
      data.list(apiVersionOf(target), target.resource, namespace, selector),
  ),
  ...method(
    'Post',
    `${resource}.(string, string, string, ${object}) -> ${object}`,
    ({ data }: Resource, apiVersion: string, plural: string, namespace: string, body: ValueObject) =>
      data.post(apiVersion, plural, namespace, body),
  ),
  ...method(
    'Post',
    `${resource}.(string, string, ${object}) -> ${object}`,
    ({ data }: Resource, apiVersion: string, plural: string, body: ValueObject) =>
      data.post(apiVersion, plural, '', body),
  ),
];

/** In a namespaced policy there is only the policy's own namespace. */
function namespacedResource(namespace: string): readonly FunctionDeclaration[] {
  return [
    ...toGvr,
    ...method(
      'Get',
      `${resource}.(string, string, string) -> ${object}`,
      ({ data }: Resource, apiVersion: string, plural: string, name: string) =>
        data.get(apiVersion, plural, namespace, name),
    ),
    ...method(
      'Get',
      `${resource}.(${gvr}, string) -> ${object}`,
      ({ data }: Resource, { data: target }: Gvr, name: string) =>
        data.get(apiVersionOf(target), target.resource, namespace, name),
    ),
    ...method(
      'List',
      `${resource}.(string, string) -> ${object}`,
      ({ data }: Resource, apiVersion: string, plural: string) =>
        data.list(apiVersion, plural, namespace, {}),
    ),
    ...method(
      'List',
      `${resource}.(string, string, ${labels}) -> ${object}`,
      ({ data }: Resource, apiVersion: string, plural: string, selector: ValueObject) =>
        data.list(apiVersion, plural, namespace, selector),
    ),
    ...method('List', `${resource}.(${gvr}) -> ${object}`, ({ data }: Resource, { data: target }: Gvr) =>
      data.list(apiVersionOf(target), target.resource, namespace, {}),
    ),
    ...method(
      'List',
      `${resource}.(${gvr}, ${labels}) -> ${object}`,
      ({ data }: Resource, { data: target }: Gvr, selector: ValueObject) =>
        data.list(apiVersionOf(target), target.resource, namespace, selector),
    ),
    ...method(
      'Post',
      `${resource}.(string, string, ${object}) -> ${object}`,
      ({ data }: Resource, apiVersion: string, plural: string, body: ValueObject) =>
        data.post(apiVersion, plural, namespace, body),
    ),
  ];
}

const { http, globalContext, image } = types;
type Http = Opaque<HttpContext>;
type Global = Opaque<GlobalContext>;

const httpFunctions: readonly FunctionDeclaration[] = [
  ...method('Get', `${http}.(string) -> any`, ({ data }: Http, url: string) => data.get(url, {})),
  ...method(
    'Get',
    `${http}.(string, ${labels}) -> any`,
    ({ data }: Http, url: string, headers: ValueObject) => data.get(url, headers),
  ),
  ...method('Post', `${http}.(string, any) -> any`, ({ data }: Http, url: string, body: Value) =>
    data.post(url, body, {}),
  ),
  ...method(
    'Post',
    `${http}.(string, any, ${labels}) -> any`,
    ({ data }: Http, url: string, body: Value, headers: ValueObject) => data.post(url, body, headers),
  ),
  ...method('Client', `${http}.(string) -> ${http}`, ({ data }: Http, caBundle: string) =>
    contextValues.http(data.client(caBundle)),
  ),
];

const otherFunctions: readonly FunctionDeclaration[] = [
  ...method('Get', `${globalContext}.(string) -> dyn`, ({ data }: Global, name: string) =>
    data.get(name, ''),
  ),
  ...method(
    'Get',
    `${globalContext}.(string, string) -> dyn`,
    ({ data }: Global, name: string, projection: string) => data.get(name, projection),
  ),
  ...method(
    'GetMetadata',
    `${image}.(string) -> dyn`,
    ({ data }: Opaque<ImageDataContext>, reference: string) => data.get(reference),
  ),
];

/** The receivers of a policy. A namespaced policy reads only its own namespace. */
export function contextLibrary(namespace?: string): Library {
  return {
    variables: [
      { name: 'resource', type: opaqueType(resource) },
      { name: 'http', type: opaqueType(http) },
      { name: 'globalContext', type: opaqueType(globalContext) },
      { name: 'image', type: opaqueType(image) },
    ],
    functions: [
      ...(namespace === undefined ? clusterResource : namespacedResource(namespace)),
      ...httpFunctions,
      ...otherFunctions,
    ],
  };
}
