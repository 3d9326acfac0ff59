import { requestFor } from '../admission/resource-request.ts';
import { emptyDataSource } from '../engine/context/data-source.ts';
import type { Request } from '../engine/request.ts';
import type { Environment } from '../expression/scope.ts';
import type { JsonObject } from '../json/value.ts';
import type { CompiledPolicy, Operation } from '../policy/compiled.ts';
import { loadDocuments } from '../policy/load.ts';

export const environment: Environment = { now: () => new Date(0), random: () => 0.5 };
export const evaluation = { dataSource: emptyDataSource, environment } as const;

export function policyFrom(text: string): CompiledPolicy {
  const { policies, problems } = loadDocuments([{ file: 'policy.yaml', text }]);
  const errors = problems.filter(({ severity }) => severity === 'error');
  const [policy] = policies;
  if (policy === undefined || errors.length > 0) throw new Error(JSON.stringify(errors));
  return policy;
}

/** A policy with one rule for ConfigMaps, written in flow YAML. */
export function policyWith(rule: string, spec = '{}', kind = 'ClusterPolicy'): CompiledPolicy {
  const match = rule.includes('match:') ? '' : 'match: {any: [{resources: {kinds: [ConfigMap]}}]}, ';
  const metadata = kind === 'Policy' ? '{name: p, namespace: ns}' : '{name: p}';
  const settings = spec === '{}' ? '' : `${spec.slice(1, -1)}, `;
  return policyFrom(
    `{apiVersion: kyverno.io/v1, kind: ${kind}, metadata: ${metadata}, spec: {${settings}rules: [{name: r, ${match}${rule}}]}}`,
  );
}

export function object(kind: string, title: string, more: JsonObject = {}): JsonObject {
  const slash = title.indexOf('/');
  const namespace = title.slice(0, Math.max(slash, 0));
  const { apiVersion = 'v1', metadata, ...content } = more;
  return {
    apiVersion,
    kind,
    metadata: {
      name: title.slice(slash + 1),
      ...(namespace === '' ? {} : { namespace }),
      ...(metadata as JsonObject | undefined),
    },
    ...content,
  };
}

export const trigger = object('ConfigMap', 'ns/trigger', {
  metadata: { uid: 'u-1', labels: { team: 'a' } },
  data: { k: 'v' },
});

export function requestOf(
  what: JsonObject,
  operation: Operation | null = 'CREATE',
  oldObject?: JsonObject,
): Request {
  return requestFor(what, { operation, oldObject });
}
