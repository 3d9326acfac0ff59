import type { DataQuery, DataSource } from '../../engine/context/data-source.ts';

/** A view of a data source that remembers whether Secrets may have been read through it. */
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

/** What a service or a global entry answers is not known to be free of Secrets. */
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
