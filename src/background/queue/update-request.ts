import { createHash } from 'node:crypto';
import type { RequestUser } from '../../engine/request.ts';
import { readBoolean, readNumber, readObject, readText, readTextMap } from '../../json/read-field.ts';
import { isArray, type Json, type JsonObject } from '../../json/value.ts';
import type { Operation } from '../../policy/compiled.ts';
import type { ObjectRef } from '../ports.ts';

export type RequestType = 'mutate' | 'generate';
export type UpdateState = 'Pending' | 'Completed' | 'Skip' | 'Failed';
/** Why the request exists: an admission request, a new or changed policy, the resync, a deleted policy, or a changed downstream or source. */
export type Cause = 'admission' | 'policyUpdate' | 'reconcile' | 'policyDelete' | 'change';

/** Work for the background controller, read from an UpdateRequest object. */
export interface UpdateRequest {
  readonly name: string;
  readonly createdAt: number;
  readonly type: RequestType;
  /** `name`, or `namespace/name`. */
  readonly policy: string;
  readonly rule: string;
  readonly cause: Cause;
  /** Differs for each request, so that a later request with the same name is recognised. */
  readonly requestToken: string;
  /** Without a name: every object that matches the rule. */
  readonly trigger: ObjectRef;
  readonly operation?: Operation | undefined;
  readonly user?: RequestUser | undefined;
  /** The AdmissionRequest, with its objects reduced or removed. */
  readonly admission: JsonObject;
  /** The resourceVersion of the trigger before the request, if the request changes the trigger. */
  readonly oldVersion?: string | undefined;
  /** When the review of the trigger arrived, in milliseconds since the epoch. */
  readonly receivedAt?: number | undefined;
  /** Size of a payload that was too large to be stored. */
  readonly tooLarge?: number | undefined;
  /** Delete what was generated for the trigger. */
  readonly deleteDownstream: boolean;
  readonly status: UpdateStatus;
  /** The object as it was read. */
  readonly document: JsonObject;
}

export interface UpdateStatus {
  readonly state: UpdateState;
  readonly message: string;
  readonly retryCount: number;
  /** The token of the request that this status describes. */
  readonly requestToken: string;
  /** In milliseconds since the epoch. */
  readonly endedAt?: number | undefined;
  /** Failed for good; kept for inspection. */
  readonly deadLetter: boolean;
}

export interface NewUpdateRequest {
  readonly type: RequestType;
  readonly policy: string;
  readonly rule: string;
  readonly cause: Cause;
  readonly requestToken: string;
  readonly trigger: ObjectRef;
  readonly operation?: Operation | undefined;
  readonly user?: RequestUser | undefined;
  readonly admission?: JsonObject | undefined;
  readonly oldVersion?: string | undefined;
  readonly receivedAt?: number | undefined;
  readonly tooLarge?: number | undefined;
  readonly deleteDownstream?: boolean | undefined;
}

export const updateRequestVersion = 'kyverno.io/v2';
const annotations = {
  cause: 'kymera.io/cause',
  requestToken: 'kymera.io/request',
  oldVersion: 'kymera.io/old-version',
  receivedAt: 'kymera.io/received-at',
  tooLarge: 'kymera.io/too-large',
} as const;

/** Unique per policy, rule, trigger and operation, so that later requests replace earlier ones. */
export function updateRequestName(request: NewUpdateRequest): string {
  const { type, policy, rule, cause, trigger, operation = '' } = request;
  const { uid, apiVersion, kind, namespace, name, subresource = '' } = trigger;
  const identity = uid === undefined ? [apiVersion, kind, namespace, name] : [uid];
  const parts = [type, policy, rule, cause, operation, subresource, ...identity];
  return `ur-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 20)}`;
}

export function updateRequestDocument(request: NewUpdateRequest, namespace: string): JsonObject {
  const {
    type,
    policy,
    rule,
    trigger,
    operation,
    user,
    admission,
    cause,
    requestToken,
    oldVersion,
    receivedAt,
    tooLarge,
  } = request;
  const { apiVersion, kind, uid } = trigger;
  return {
    apiVersion: updateRequestVersion,
    kind: 'UpdateRequest',
    metadata: {
      name: updateRequestName(request),
      namespace,
      labels: requestLabels(request),
      annotations: {
        [annotations.cause]: cause,
        [annotations.requestToken]: requestToken,
        ...(oldVersion === undefined ? {} : { [annotations.oldVersion]: oldVersion }),
        ...(receivedAt === undefined ? {} : { [annotations.receivedAt]: new Date(receivedAt).toISOString() }),
        ...(tooLarge === undefined ? {} : { [annotations.tooLarge]: String(tooLarge) }),
      },
    },
    spec: {
      requestType: type,
      policy,
      rule,
      ...(request.deleteDownstream === true ? { deleteDownstream: true } : {}),
      resource: {
        apiVersion,
        kind,
        name: trigger.name,
        namespace: trigger.namespace,
        ...(uid === undefined ? {} : { uid }),
      },
      context: {
        ...(user === undefined ? {} : { userInfo: userDocument(user) }),
        admissionRequestInfo: {
          ...(operation === undefined ? {} : { operation }),
          ...(admission === undefined ? {} : { admissionRequest: admission }),
        },
      },
    },
  };
}

export function readUpdateRequest(document: JsonObject): UpdateRequest {
  const metadata = readObject(document, 'metadata') ?? {};
  const spec = readObject(document, 'spec') ?? {};
  const resource = readObject(spec, 'resource') ?? {};
  const context = readObject(spec, 'context') ?? {};
  const info = readObject(context, 'admissionRequestInfo') ?? {};
  const notes = readTextMap(metadata, 'annotations');
  const admission = readObject(info, 'admissionRequest') ?? {};
  const subresource = readText(admission, 'subResource');
  const tooLarge = notes[annotations.tooLarge];
  return {
    name: readText(metadata, 'name') ?? '',
    createdAt: Date.parse(readText(metadata, 'creationTimestamp') ?? '') || 0,
    type: readText(spec, 'requestType') === 'generate' ? 'generate' : 'mutate',
    policy: readText(spec, 'policy') ?? '',
    rule: readText(spec, 'rule') ?? '',
    cause: (notes[annotations.cause] ?? 'admission') as Cause,
    requestToken: notes[annotations.requestToken] ?? '',
    trigger: {
      apiVersion: readText(resource, 'apiVersion') ?? '',
      kind: readText(resource, 'kind') ?? '',
      namespace: readText(resource, 'namespace') ?? '',
      name: readText(resource, 'name') ?? '',
      uid: readText(resource, 'uid'),
      subresource: subresource === '' ? undefined : subresource,
    },
    operation: readText(info, 'operation') as Operation | undefined,
    user: readUser(readObject(context, 'userInfo')),
    admission,
    oldVersion: notes[annotations.oldVersion],
    receivedAt: Date.parse(notes[annotations.receivedAt] ?? '') || undefined,
    tooLarge: tooLarge === undefined ? undefined : Number(tooLarge),
    deleteDownstream: readBoolean(spec, 'deleteDownstream') ?? false,
    status: readStatus(readObject(document, 'status') ?? {}),
    document,
  };
}

function readStatus(status: JsonObject): UpdateStatus {
  const ended = Date.parse(readText(status, 'endedAt') ?? '');
  return {
    state: (readText(status, 'state') ?? 'Pending') as UpdateState,
    message: readText(status, 'message') ?? '',
    retryCount: readNumber(status, 'retryCount') ?? 0,
    requestToken: readText(status, 'observedRequest') ?? '',
    endedAt: Number.isNaN(ended) ? undefined : ended,
    deadLetter: readBoolean(status, 'deadLetter') ?? false,
  };
}

export function statusDocument({
  state,
  message,
  retryCount,
  requestToken,
  endedAt,
  deadLetter,
}: UpdateStatus): JsonObject {
  return {
    state,
    message,
    observedRequest: requestToken,
    ...(retryCount === 0 ? {} : { retryCount }),
    ...(endedAt === undefined ? {} : { endedAt: new Date(endedAt).toISOString() }),
    ...(deadLetter ? { deadLetter } : {}),
  };
}

/** Whether the request is pending, due for a retry, or newer than its status. */
export function isOpen({ status, requestToken }: UpdateRequest): boolean {
  if (status.requestToken !== requestToken || status.state === 'Pending') return true;
  return status.state === 'Failed' && !status.deadLetter;
}

/** The document without the objects of the request; undefined if it has none. */
export function withoutPayload(document: JsonObject): JsonObject | undefined {
  const spec = readObject(document, 'spec') ?? {};
  const context = readObject(spec, 'context') ?? {};
  const info = readObject(context, 'admissionRequestInfo') ?? {};
  const { object, oldObject, ...admissionRequest } = readObject(info, 'admissionRequest') ?? {};
  if (object === undefined && oldObject === undefined) return undefined;
  return {
    ...document,
    spec: { ...spec, context: { ...context, admissionRequestInfo: { ...info, admissionRequest } } },
  };
}

function requestLabels({ type, policy, trigger }: NewUpdateRequest): JsonObject {
  const prefix = `${type}.updaterequest.kyverno.io`;
  return {
    'app.kubernetes.io/managed-by': 'kymera',
    [`${prefix}/policy-name`]: labelValue(policy),
    [`${prefix}/trigger-name`]: labelValue(trigger.name),
    [`${prefix}/trigger-namespace`]: labelValue(trigger.namespace),
    [`${prefix}/trigger-kind`]: labelValue(trigger.kind),
    [`${prefix}/trigger-apiversion`]: labelValue(trigger.apiVersion),
  };
}

/** At most 63 valid label characters. */
function labelValue(text: string): string {
  return text
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .slice(0, 63)
    .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
}

function userDocument({ info, roles, clusterRoles }: RequestUser): JsonObject {
  const { username, groups, uid, extra } = info;
  return {
    roles: [...roles],
    clusterRoles: [...clusterRoles],
    userInfo: {
      username,
      groups: [...groups],
      ...(uid === undefined ? {} : { uid }),
      ...(extra === undefined ? {} : { extra }),
    },
  };
}

function readUser(document: JsonObject | undefined): RequestUser | undefined {
  if (document === undefined) return undefined;
  const info = readObject(document, 'userInfo') ?? {};
  const uid = readText(info, 'uid');
  const extra = readObject(info, 'extra');
  return {
    info: {
      username: readText(info, 'username') ?? '',
      groups: texts(info['groups']),
      uid,
      extra,
    },
    roles: texts(document['roles']),
    clusterRoles: texts(document['clusterRoles']),
  };
}

function texts(value: Json | undefined): readonly string[] {
  return isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
