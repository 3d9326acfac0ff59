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

/** What the engine is asked to look at, whichever door it came through. */
export interface Request {
  /** Absent in a background run: there is no operation then. */
  readonly operation?: Operation | undefined;
  /** The kind that match blocks are compared with: that of the parent for a subresource. */
  readonly kind: GroupVersionKind;
  readonly subresource: string;
  readonly name: string;
  readonly namespace: string;
  /** With apiVersion, kind and namespace filled in from the request. Null for DELETE. */
  readonly object: JsonObject | null;
  readonly oldObject: JsonObject | null;
  /** Absent in a background run. */
  readonly user?: RequestUser | undefined;
  /** What `request` yields to expressions; `object` is filled in as it is at each moment. */
  readonly variables: JsonObject;
  /** Values bound beforehand (a values file): they win over context entries of the same name. */
  readonly bindings?: BindingLookup | undefined;
  /** More of them for one element of a foreach, by its index. */
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
