import type { Json, JsonObject } from '../json/value.ts';
import type { Operation } from '../policy/compiled.ts';

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface UserInfo {
  readonly username: string;
  readonly groups: readonly string[];
  readonly uid?: string | undefined;
  readonly extra?: JsonObject | undefined;
}

/** The input of the engine, independent of where the request came from. */
export interface Request {
  /** Absent in a background run. */
  readonly operation?: Operation | undefined;
  /** The kind that match blocks compare with. For a subresource, the kind of the parent. */
  readonly kind: GroupVersionKind;
  readonly subresource: string;
  /** The plural name; by the rule for built-in kinds if it is absent. */
  readonly resource?: string | undefined;
  readonly name: string;
  readonly namespace: string;
  /** With apiVersion, kind and namespace filled in from the request. Null for DELETE. */
  readonly object: JsonObject | null;
  readonly oldObject: JsonObject | null;
  /** The object as CEL policies found it, if each policy is evaluated on its own and others ran before. */
  readonly original?: JsonObject | undefined;
  /** Absent in a background run. */
  readonly user?: RequestUser | undefined;
  /** The value of `request` in expressions; `object` is replaced by the current object. */
  readonly variables: JsonObject;
  /** Predefined values (a values file). They override context entries of the same name. */
  readonly bindings?: BindingLookup | undefined;
  /** Additional predefined values for one foreach element, by its index. */
  readonly elementBindings?: ElementBindingLookup | undefined;
}

export interface RequestUser {
  readonly info: UserInfo;
  readonly roles: readonly string[];
  readonly clusterRoles: readonly string[];
}

/** Bindings for one rule: root name → value. */
export type BindingLookup = (policy: string, rule: string) => Readonly<Record<string, Json>> | undefined;

export type ElementBindingLookup = (
  policy: string,
  rule: string,
  index: number,
) => Readonly<Record<string, Json>> | undefined;

/** The fields of `request` that Kubernetes and Kyverno define. */
export const requestFields: readonly string[] = [
  'uid',
  'kind',
  'resource',
  'subResource',
  'requestKind',
  'requestResource',
  'requestSubResource',
  'name',
  'namespace',
  'operation',
  'userInfo',
  'roles',
  'clusterRoles',
  'object',
  'oldObject',
  'dryRun',
  'options',
];
