import type { Json, JsonObject } from '../../json/value.ts';

/**
 * Something outside the request that a policy reads. `policyNamespace` is the namespace of a namespaced Policy: the data source
 * applies `scopeViolation` where the decision needs facts of the cluster.
 */
export type DataQuery =
  | { readonly type: 'configMap'; readonly namespace: string; readonly name: string }
  | {
      readonly type: 'apiCall';
      readonly method: 'GET' | 'POST';
      readonly urlPath?: string | undefined;
      readonly service?: Json | undefined;
      readonly body?: Json | undefined;
      readonly policyNamespace?: string | undefined;
    }
  | {
      readonly type: 'imageRegistry';
      readonly reference: string;
      readonly credentials?: JsonObject | undefined;
    }
  | {
      readonly type: 'globalReference';
      readonly name: string;
      readonly policyNamespace?: string | undefined;
    }
  /** Labels of a namespace, for namespaceSelector. */
  | { readonly type: 'namespaceLabels'; readonly namespace: string }
  /** One named object, for a replacement source. The answer is a list when several objects match, for example without a namespace. */
  | {
      readonly type: 'object';
      readonly group?: string | undefined;
      readonly version?: string | undefined;
      readonly kind: string;
      readonly namespace?: string | undefined;
      readonly name: string;
      readonly policyNamespace?: string | undefined;
    }
  /** The schema of a custom kind: an OpenAPI v3 document that has the kind in `components.schemas`. */
  | { readonly type: 'schema'; readonly apiVersion: string; readonly kind: string };

export type DataAnswer =
  | { readonly found: true; readonly value: Json }
  | {
      readonly found: false;
      readonly error: string;
      /** The cause without values of objects and data, such as `the API server answered 403 Forbidden`. */
      readonly reason?: string | undefined;
      /** The object does not exist, in contrast to an object that cannot be read. */
      readonly absent?: boolean | undefined;
      /** Outside of the policy's scope: there is no fallback. */
      readonly denied?: boolean | undefined;
    };

/** Provides external data to policies: from informers and the API in a cluster, from files on the command line. */
export interface DataSource {
  /**
   * Returns an answer if the data is available locally, otherwise a promise. Never throws or rejects. After
   * `milliseconds` the caller no longer waits, and a pending read is cancelled.
   */
  read(query: DataQuery, milliseconds?: number): DataAnswer | Promise<DataAnswer>;
}

export const emptyDataSource: DataSource = {
  read: (query) => ({ found: false, error: `no data source is configured for ${query.type}` }),
};
