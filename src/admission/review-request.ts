import type { GroupVersionKind, Request, RequestUser, UserInfo } from '../engine/request.ts';
import { textOf } from '../json/metadata.ts';
import { isArray, isObject, type Json, type JsonObject } from '../json/value.ts';
import type { Operation } from '../policy/compiled.ts';
import { kindOf } from './resource-request.ts';

export interface AdmissionSettings {
  /** The roles of the user, from role bindings. */
  readonly roles?:
    | ((user: UserInfo, namespace: string) => Pick<RequestUser, 'roles' | 'clusterRoles'>)
    | undefined;
  /** The kind of a resource, for subresources: `pods` → Pod. */
  readonly kindOfResource?:
    | ((resource: { group: string; version: string; resource: string }) => GroupVersionKind | undefined)
    | undefined;
}

/** The body is not an AdmissionReview with a request. */
export class MalformedReview extends Error {
  override readonly name = 'MalformedReview';
}

const operations: ReadonlySet<string> = new Set<Operation>(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']);
const reviewVersion = 'admission.k8s.io/v1';
const noRoles = { roles: [], clusterRoles: [] } as const;

export interface ReviewedRequest {
  readonly uid: string;
  readonly apiVersion: string;
  readonly dryRun: boolean;
  readonly request: Request;
}

export function requestOf(body: Json, settings: AdmissionSettings): ReviewedRequest {
  if (!isObject(body) || body['kind'] !== 'AdmissionReview')
    throw new MalformedReview('the body is not an AdmissionReview');
  if (body['apiVersion'] !== reviewVersion)
    throw new MalformedReview(`the version of the AdmissionReview is not ${reviewVersion}`);
  const raw = body['request'];
  if (!isObject(raw)) throw new MalformedReview('the AdmissionReview has no request');
  const uid = textOf(raw['uid']);
  const operation = raw['operation'];
  if (uid === '') throw new MalformedReview('request.uid is missing');
  if (typeof operation !== 'string' || !operations.has(operation)) {
    throw new MalformedReview('request.operation is not one of CREATE, UPDATE, DELETE, CONNECT');
  }
  const problem = invalidField(raw);
  if (problem !== undefined) throw new MalformedReview(problem);
  return {
    uid,
    apiVersion: textOf(body['apiVersion']),
    dryRun: raw['dryRun'] === true,
    request: toRequest(raw, operation as Operation, settings),
  };
}

function toRequest(raw: JsonObject, operation: Operation, settings: AdmissionSettings): Request {
  const subresource = textOf(raw['subResource']);
  const namespace = textOf(raw['namespace']);
  const stated = groupVersionKind(raw['kind']);
  const user = userOf(raw['userInfo'], namespace, settings);
  const oldObject = withIdentity(raw['oldObject'], stated, namespace);
  return {
    operation,
    kind: subresource === '' ? stated : (parentKind(raw['resource'], settings) ?? stated),
    subresource,
    resource: isObject(raw['resource']) ? textOf(raw['resource']['resource']) || undefined : undefined,
    name: textOf(raw['name']),
    namespace,
    object: withIdentity(raw['object'], stated, namespace),
    oldObject,
    user,
    variables: variablesOf(raw, oldObject, user),
  };
}

function variablesOf(
  raw: JsonObject,
  oldObject: JsonObject | null,
  { roles, clusterRoles }: RequestUser,
): JsonObject {
  const variables: Record<string, Json> = { ...raw, oldObject };
  if (roles.length > 0) variables['roles'] = roles;
  if (clusterRoles.length > 0) variables['clusterRoles'] = clusterRoles;
  return variables;
}

function parentKind(resource: Json | undefined, settings: AdmissionSettings): GroupVersionKind | undefined {
  if (!isObject(resource)) return undefined;
  const group = textOf(resource['group']);
  const version = textOf(resource['version']);
  return settings.kindOfResource?.({ group, version, resource: textOf(resource['resource']) });
}

/** Adds the type and namespace of the request where the object omits them. */
function withIdentity(body: Json | undefined, kind: GroupVersionKind, namespace: string): JsonObject | null {
  if (!isObject(body)) return null;
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  let object = body;
  if (object['apiVersion'] !== apiVersion || object['kind'] !== kind.kind) {
    object = { ...object, apiVersion, kind: kind.kind };
  }
  const metadata = object['metadata'];
  if (namespace === '' || !isObject(metadata) || metadata['namespace'] === namespace) return object;
  if (kind.kind === 'Namespace' && kind.group === '') return object;
  return { ...object, metadata: { ...metadata, namespace } };
}

function userOf(userInfo: Json | undefined, namespace: string, settings: AdmissionSettings): RequestUser {
  const raw = isObject(userInfo) ? userInfo : {};
  const groups = raw['groups'];
  const info: UserInfo = {
    username: textOf(raw['username']),
    groups: isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
    ...(typeof raw['uid'] === 'string' ? { uid: raw['uid'] } : {}),
    ...(isObject(raw['extra']) ? { extra: raw['extra'] } : {}),
  };
  return { info, ...(settings.roles?.(info, namespace) ?? noRoles) };
}

function groupVersionKind(value: Json | undefined): GroupVersionKind {
  if (!isObject(value)) return kindOf({});
  return { group: textOf(value['group']), version: textOf(value['version']), kind: textOf(value['kind']) };
}

/** The first field whose type differs from what API servers send; undefined when all fields are valid. */
function invalidField(request: JsonObject): string | undefined {
  return (
    invalidString(request, '', requestStrings) ??
    invalidType(request, 'kind') ??
    invalidType(request, 'resource') ??
    invalidType(request, 'requestKind') ??
    invalidType(request, 'requestResource') ??
    invalidObject(request, ['object', 'oldObject', 'options', 'userInfo']) ??
    invalidUser(request['userInfo']) ??
    (isAbsent(request['dryRun']) || typeof request['dryRun'] === 'boolean'
      ? undefined
      : 'request.dryRun is not a boolean')
  );
}

const requestStrings = ['name', 'namespace', 'subResource', 'requestSubResource'] as const;
const typeStrings = ['group', 'version', 'kind', 'resource'] as const;
const userStrings = ['username', 'uid'] as const;

function invalidType(request: JsonObject, field: string): string | undefined {
  const value = request[field];
  if (isAbsent(value)) return undefined;
  if (!isObject(value)) return `request.${field} is not an object`;
  return invalidString(value, `${field}.`, typeStrings);
}

function invalidUser(value: Json | undefined): string | undefined {
  if (!isObject(value)) return undefined;
  const groups = value['groups'];
  const areStrings =
    isAbsent(groups) || (isArray(groups) && groups.every((group) => typeof group === 'string'));
  if (!areStrings) return 'request.userInfo.groups is not a list of strings';
  if (!isAbsent(value['extra']) && !isObject(value['extra']))
    return 'request.userInfo.extra is not an object';
  return invalidString(value, 'userInfo.', userStrings);
}

function invalidString(object: JsonObject, prefix: string, fields: readonly string[]): string | undefined {
  for (const field of fields) {
    const value = object[field];
    if (typeof value !== 'string' && !isAbsent(value)) return `request.${prefix}${field} is not a string`;
  }
  return undefined;
}

function invalidObject(request: JsonObject, fields: readonly string[]): string | undefined {
  for (const field of fields) {
    const value = request[field];
    if (!isAbsent(value) && !isObject(value)) return `request.${field} is not an object`;
  }
  return undefined;
}

function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}
