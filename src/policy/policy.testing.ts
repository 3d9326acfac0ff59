import { loadDocuments } from './load.ts';
import type { IndexedSubject } from './registry/literal-clauses.ts';

/** Problems of a policy written as YAML, as `severity code pointer`. */
export function check(text: string): string[] {
  const { problems } = loadDocuments([{ file: 'p.yaml', text }]);
  return problems.map(({ severity, code, pointer }) => `${severity} ${code} ${pointer}`);
}

export interface Parts {
  readonly kind?: string | undefined;
  readonly version?: string | undefined;
  readonly metadata?: string | undefined;
  readonly spec?: string | undefined;
  readonly rule?: string | undefined;
  readonly match?: string | undefined;
  readonly mutate?: string | undefined;
}

export const labelPatch = 'patchStrategicMerge: {metadata: {labels: {a: b}}}';
export const configMapMatch = 'any: [{resources: {kinds: [ConfigMap]}}]';

/** A sound policy, but for the parts given (flow YAML). */
export function policy(parts: Parts = {}): string {
  return `
apiVersion: ${parts.version ?? 'kyverno.io/v1'}
kind: ${parts.kind ?? 'ClusterPolicy'}
metadata: {name: p${parts.metadata === undefined ? '' : `, ${parts.metadata}`}}
spec:
  ${parts.spec ?? 'background: false'}
  rules:
  - name: r
    match: {${parts.match ?? configMapMatch}}
    mutate:
      ${parts.mutate ?? labelPatch}
    ${parts.rule ?? ''}
`;
}

/** A subject of the index: the object `web` in the namespace `shop`, without labels, but for what is given. */
export function indexedSubject(more: Partial<IndexedSubject> = {}): IndexedSubject {
  const { name = 'web', namespace = 'shop', labels = {} } = more;
  return {
    name,
    generateName: '',
    namespace,
    labels,
    annotations: {},
    namespaceLabels: () => ({}),
    labelsOfVersions: () => [labels],
    request: { name, namespace },
    ...more,
  };
}
