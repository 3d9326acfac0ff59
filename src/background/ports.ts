import type { JsonObject } from '../json/value.ts';

/** One object of a cluster, or of a folder. */
export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for an object that is in no namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
  readonly subresource?: string;
}

export interface ListQuery {
  /** `group/version` or `version`; either part may hold wildcards. */
  readonly apiVersion: string;
  /** May hold wildcards. */
  readonly kind: string;
  readonly subresource?: string | undefined;
  /** Exact; all namespaces when absent. */
  readonly namespace?: string | undefined;
  /** As in `kubectl get --selector`. */
  readonly labelSelector?: string | undefined;
}

/** Where existing objects are read from. */
export interface ObjectReader {
  /** Undefined when there is no such object. */
  get(ref: ObjectRef): Promise<JsonObject | undefined>;
  list(query: ListQuery): Promise<readonly JsonObject[]>;
  /** Undefined for a kind that is not known. */
  isNamespaced(apiVersion: string, kind: string): boolean | undefined;
}

/** Where they are also written to. Every method may raise a StoreError. */
export interface ObjectStore extends ObjectReader {
  create(object: JsonObject): Promise<JsonObject>;
  /**
   * Replaces the object, provided that it is still the one that was read: its resourceVersion decides. The body of a subresource may
   * be of another kind than the object it belongs to (Scale): that is named then.
   */
  update(object: JsonObject, subresource?: string, parent?: ObjectRef): Promise<JsonObject>;
  /** Removing what is not there is no failure. */
  remove(ref: ObjectRef): Promise<void>;
}

export type StoreReason = 'conflict' | 'forbidden' | 'notFound' | 'alreadyExists' | 'invalid' | 'unavailable';

/** A read or a write that was not done, and why: what to do next depends on the reason. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly reason: StoreReason;

  constructor(reason: StoreReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
