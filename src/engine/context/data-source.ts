import type { Json, JsonObject } from '../../json/value.ts';

/** Something outside the request that a policy reads. */
export type DataQuery =
  | { readonly type: 'configMap'; readonly namespace: string; readonly name: string }
  | {
      readonly type: 'apiCall';
      readonly method: 'GET' | 'POST';
      readonly urlPath?: string | undefined;
      readonly service?: Json | undefined;
      readonly body?: Json | undefined;
    }
  | {
      readonly type: 'imageRegistry';
      readonly reference: string;
      readonly credentials?: JsonObject | undefined;
    }
  | { readonly type: 'globalReference'; readonly name: string }
  /** Labels of a namespace, for namespaceSelector. */
  | { readonly type: 'namespaceLabels'; readonly namespace: string }
  /** One named object, for a replacement source. A list when several fit: without a namespace, say. */
  | {
      readonly type: 'object';
      readonly group?: string | undefined;
      readonly version?: string | undefined;
      readonly kind: string;
      readonly namespace?: string | undefined;
      readonly name: string;
    };

export type DataAnswer =
  | { readonly found: true; readonly value: Json }
  | { readonly found: false; readonly error: string };

/** Where a policy's outside data comes from: informers and the API in a cluster, files on the command line. */
export interface DataSource {
  /**
   * An answer at once when the data is at hand, else a promise of it. Never throws, never rejects. After so many
   * milliseconds nobody waits any more: what is under way then is given up.
   */
  read(query: DataQuery, milliseconds?: number): DataAnswer | Promise<DataAnswer>;
}

export const emptyDataSource: DataSource = {
  read: (query) => ({ found: false, error: `no data source is configured for ${query.type}` }),
};
