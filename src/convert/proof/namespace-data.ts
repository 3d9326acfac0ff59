import type { DataSource } from '../../engine/context/data-source.ts';
import { nameOf, namespaceOf } from '../../json/metadata.ts';
import type { Sample } from './sample.ts';

/**
 * The data of a sample. Each namespace has the label with its name; that of the object also has the labels of the sample or, if it has
 * none, of its data.
 */
export function namespaceData({
  object,
  namespaceLabels,
  dataSource,
}: Pick<Sample, 'object' | 'namespaceLabels' | 'dataSource'>): DataSource {
  const own = object['kind'] === 'Namespace' ? nameOf(object) : namespaceOf(object);
  return {
    read: (query, milliseconds) => {
      if (query.type === 'namespaceLabels') {
        const { namespace } = query;
        const isGiven = namespace === own && Object.keys(namespaceLabels).length > 0;
        const labels = { 'kubernetes.io/metadata.name': namespace, ...(isGiven ? namespaceLabels : {}) };
        if (isGiven || dataSource === undefined) return { found: true, value: labels };
      }
      return dataSource?.read(query, milliseconds) ?? { found: false, error: 'not found', absent: true };
    },
  };
}
