import { type JsonObject, loadPolicies, type PolicySet } from '../index.ts';

/** One ClusterPolicy a rule list, loaded without problems. */
export function policySet(...documents: readonly string[]): PolicySet {
  const set = loadPolicies(...documents.map((text, index) => ({ file: `policy-${index}.yaml`, text })));
  const errors = set.problems.filter((problem) => problem.severity === 'error');
  if (errors.length > 0) throw new Error(JSON.stringify(errors, null, 2));
  return set;
}

export function clusterPolicy(name: string, rules: string, spec = ''): string {
  const indented = rules.trim().replaceAll('\n', '\n    ');
  return `apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: ${name}
spec:
  ${spec}
  rules:
    ${indented}
`;
}

/** A rule for ConfigMaps. */
export function configMapRule(name: string, mutate: string, extra = ''): string {
  return `- name: ${name}
  match: {any: [{resources: {kinds: [ConfigMap]}}]}
  ${extra}
  mutate: ${mutate}
`;
}

export function configMap(name: string, data: Record<string, string> = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}
