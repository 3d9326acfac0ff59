import { type Library, overload } from '../types/environment.ts';
import { structType } from '../types/type.ts';
import { CelError } from '../value/error.ts';
import { Opaque, type Value } from '../value/value.ts';

/** Who asks for what: a request path, or a resource. */
export interface AuthorizationRequest {
  /** Set when the check is for a service account instead of the user of the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string } | undefined;
  readonly verb: string;
  readonly path?: string | undefined;
  readonly group?: string | undefined;
  readonly resource?: string | undefined;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
}

export interface AuthorizationDecision {
  readonly allowed: boolean;
  readonly reason: string;
  readonly error?: string | undefined;
}

export type Authorize = (request: AuthorizationRequest) => AuthorizationDecision;

interface Check {
  readonly authorize: Authorize;
  readonly request: Omit<AuthorizationRequest, 'verb'>;
}

type CheckValue = Opaque<Check>;

const namespace = 'kubernetes.authorization';
const names = {
  authorizer: `${namespace}.Authorizer`,
  path: `${namespace}.PathCheck`,
  group: `${namespace}.GroupCheck`,
  resource: `${namespace}.ResourceCheck`,
  decision: `${namespace}.Decision`,
};
const authorizerType = `struct ${names.authorizer}`;
const pathType = `struct ${names.path}`;
const groupType = `struct ${names.group}`;
const resourceType = `struct ${names.resource}`;
const decisionType = `struct ${names.decision}`;

/** The value of `authorizer`. */
export function authorizerValue(authorize: Authorize): Value {
  return new Opaque<Check>(names.authorizer, { authorize, request: {} });
}

/** The value of `authorizer.requestResource`: a check of the resource of the request. */
export function requestResourceValue(
  authorize: Authorize,
  request: Omit<AuthorizationRequest, 'verb'>,
): Value {
  return new Opaque<Check>(names.resource, { authorize, request });
}

function narrow(typeName: string, { data }: CheckValue, request: Check['request']): CheckValue {
  return new Opaque(typeName, { ...data, request: { ...data.request, ...request } });
}

function nonEmpty(text: string, message: string): string {
  if (text.trim() === '') throw new CelError(message);
  return text;
}

function resourceSetter(field: keyof Check['request']): (check: CheckValue, value: string) => CheckValue {
  return (check, value) => narrow(names.resource, check, { [field]: value });
}

function decide({ data }: CheckValue, verb: string): Opaque<AuthorizationDecision> {
  return new Opaque(names.decision, data.authorize({ ...data.request, verb }));
}

type DecisionValue = Opaque<AuthorizationDecision>;

/** Checks of what users may do; what they find is passed in. */
export const authorizerLibrary: Library = {
  variables: [
    { name: 'authorizer', type: structType(names.authorizer) },
    { name: 'authorizer.requestResource', type: structType(names.resource) },
  ],
  functions: [
    overload('path', `${authorizerType}.(string) -> ${pathType}`, (check: CheckValue, path: string) =>
      narrow(names.path, check, { path: nonEmpty(path, 'path must not be empty') }),
    ),
    overload('group', `${authorizerType}.(string) -> ${groupType}`, (check: CheckValue, group: string) =>
      narrow(names.group, check, { group }),
    ),
    overload(
      'serviceAccount',
      `${authorizerType}.(string, string) -> ${authorizerType}`,
      (check: CheckValue, account: string, name: string) =>
        narrow(names.authorizer, check, {
          serviceAccount: {
            namespace: nonEmpty(account, 'Invalid service account namespace'),
            name: nonEmpty(name, 'Invalid service account name'),
          },
        }),
    ),
    overload('resource', `${groupType}.(string) -> ${resourceType}`, (check: CheckValue, resource: string) =>
      narrow(names.resource, check, { resource: nonEmpty(resource, 'resource must not be empty') }),
    ),
    overload('subresource', `${resourceType}.(string) -> ${resourceType}`, resourceSetter('subresource')),
    overload('namespace', `${resourceType}.(string) -> ${resourceType}`, resourceSetter('namespace')),
    overload('name', `${resourceType}.(string) -> ${resourceType}`, resourceSetter('name')),
    overload('fieldSelector', `${resourceType}.(string) -> ${resourceType}`, resourceSetter('fieldSelector')),
    overload('labelSelector', `${resourceType}.(string) -> ${resourceType}`, resourceSetter('labelSelector')),
    overload('check', `${pathType}.(string) -> ${decisionType}`, decide),
    overload('check', `${resourceType}.(string) -> ${decisionType}`, decide),
    overload('allowed', `${decisionType}.() -> bool`, ({ data }: DecisionValue) => data.allowed),
    overload('reason', `${decisionType}.() -> string`, ({ data }: DecisionValue) => data.reason),
    overload('errored', `${decisionType}.() -> bool`, ({ data }: DecisionValue) => data.error !== undefined),
    overload('error', `${decisionType}.() -> string`, ({ data }: DecisionValue) => data.error ?? ''),
  ],
};
