import type {
  BindingLookup,
  ElementBindingLookup,
  GroupVersionKind,
  Request,
  RequestUser,
} from '../engine/request.ts';
import { textOf } from '../json/metadata.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';
import type { Operation } from '../policy/compiled.ts';

export interface ResourceRequestOptions {
  /** Default CREATE; null for a background run, which has no operation. */
  readonly operation?: Operation | null | undefined;
  readonly oldObject?: JsonObject | undefined;
  readonly user?: RequestUser | undefined;
  readonly subresource?: string | undefined;
  /** The kind of the parent when the object is a subresource. */
  readonly parentKind?: GroupVersionKind | undefined;
  readonly bindings?: BindingLookup | undefined;
  readonly elementBindings?: ElementBindingLookup | undefined;
  /** Extra or changed members of the `request` variable (a values file). */
  readonly variables?: JsonObject | undefined;
}

/** Creates a request for an object that comes from a file instead of the API server. */
export function requestFor(object: JsonObject, options: ResourceRequestOptions = {}): Request {
  const kind = kindOf(object);
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const name = textOf(metadata['name']);
  const namespace = textOf(metadata['namespace']);
  const operation = options.operation === undefined ? 'CREATE' : (options.operation ?? undefined);
  const subresource = options.subresource ?? '';
  const user = options.user;
  const oldObject = options.oldObject ?? (operation === 'DELETE' ? object : null);
  const variables: Record<string, Json> = {
    kind: { ...kind },
    name,
    namespace: kind.kind === 'Namespace' && kind.group === '' ? name : namespace,
    ...(operation === undefined ? {} : { operation }),
    ...(subresource === '' ? {} : { subResource: subresource }),
    ...userVariables(user),
    ...(oldObject === null ? {} : { oldObject }),
    ...options.variables,
    object,
  };
  return {
    operation,
    kind: options.parentKind ?? kind,
    subresource,
    name,
    namespace,
    object: operation === 'DELETE' ? null : object,
    oldObject,
    user,
    variables,
    bindings: options.bindings,
    elementBindings: options.elementBindings,
  };
}

/** The group, version and kind of an object. */
export function kindOf(object: JsonObject): GroupVersionKind {
  const apiVersion = textOf(object['apiVersion']);
  const slash = apiVersion.indexOf('/');
  return {
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: slash < 0 ? apiVersion : apiVersion.slice(slash + 1),
    kind: textOf(object['kind']),
  };
}

export function userVariables(user: RequestUser | undefined): JsonObject {
  if (user === undefined) return {};
  const { info, roles, clusterRoles } = user;
  return {
    userInfo: {
      username: info.username,
      groups: info.groups,
      ...(info.uid === undefined ? {} : { uid: info.uid }),
      ...(info.extra === undefined ? {} : { extra: info.extra }),
    },
    ...(roles.length === 0 ? {} : { roles }),
    ...(clusterRoles.length === 0 ? {} : { clusterRoles }),
  };
}
