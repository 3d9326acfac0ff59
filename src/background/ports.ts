import type { JsonObject } from '../json/value.ts';

/** A reference to an object in a cluster or in files. */
export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string | undefined;
  readonly subresource?: string | undefined;
}

export interface ListQuery {
  /** `group/version` or `version`; both parts may contain wildcards. */
  readonly apiVersion: string;
  /** May contain wildcards. */
  readonly kind: string;
  /** The plural, in addition to the kind; may contain wildcards. */
  readonly resource?: string | undefined;
  readonly subresource?: string | undefined;
  /** Without wildcards; selects no cluster-scoped objects. Undefined for all namespaces and cluster-scoped objects. */
  readonly namespace?: string | undefined;
  /** As in `kubectl get --selector`. */
  readonly labelSelector?: string | undefined;
}

/** Reads objects from the cluster, or from files. */
export interface ObjectReader {
  /** Undefined if the object does not exist. */
  get(ref: ObjectRef): Promise<JsonObject | undefined>;
  list(query: ListQuery): Promise<readonly JsonObject[]>;
  /** Undefined for an unknown kind. */
  isNamespaced(apiVersion: string, kind: string): boolean | undefined;
}

/** Reads and writes objects. Every method may throw a StoreError. */
export interface ObjectStore extends ObjectReader {
  create(object: JsonObject): Promise<JsonObject>;
  /**
   * Changes an object that was read as `before`. Only the differences are sent, so fields that the change does not touch stay exactly
   * as they are stored. Throws `conflict` if the object no longer has the resourceVersion of `before`. `ref` identifies the object
   * of a subresource, whose body may have another kind (Scale); by default it is that of `after`.
   */
  update(before: JsonObject, after: JsonObject, ref?: ObjectRef): Promise<JsonObject>;
  /** Server-side apply: creates or changes the object, and keeps the fields of others. Absent if the store cannot do it. */
  apply?(object: JsonObject): Promise<JsonObject>;
  /** Deletes the object. Succeeds if it does not exist. */
  remove(ref: ObjectRef): Promise<void>;
}

export type StoreReason =
  | 'conflict'
  | 'forbidden'
  | 'notFound'
  | 'alreadyExists'
  | 'invalid'
  /** The namespace is being deleted. */
  | 'terminating'
  | 'unavailable';

/** A failed read or write. The caller decides by the reason what to do next. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly reason: StoreReason;

  constructor(reason: StoreReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
