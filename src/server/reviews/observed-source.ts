import type { DataQuery, DataSource } from '../../engine/context/data-source.ts';

/** A data source that records whether Secrets may have been read through it. */
export interface ObservedSource extends DataSource {
  readonly readsSecrets: boolean;
}

export function observeSource(source: DataSource): ObservedSource {
  let readsSecrets = false;
  return {
    get readsSecrets() {
      return readsSecrets;
    },
    read(query) {
      readsSecrets ||= mayHoldSecrets(query);
      return source.read(query);
    },
  };
}

/** The data of a service or a global entry may contain Secrets. */
function mayHoldSecrets(query: DataQuery): boolean {
  switch (query.type) {
    case 'apiCall':
      return query.urlPath === undefined || /\/secrets(?:[/?]|$)/.test(query.urlPath);
    case 'object':
      return query.kind === 'Secret';
    case 'globalReference':
      return true;
    default:
      return false;
  }
}
