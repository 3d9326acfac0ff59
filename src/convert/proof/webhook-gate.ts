import type { Result } from '../../engine/outcome.ts';
import type { JsonObject } from '../../json/value.ts';
import { celCompilers } from '../../policy/cel/language.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { createSnapshot, type PolicySnapshot } from '../../policy/registry/registry.ts';

/** Whether the API server calls the webhook of a policy. */
export type Call = 'called' | 'skipped' | 'denied';

/**
 * The engine leaves the conditions of a webhook to the API server. This policy has the same conditions and changes
 * nothing. Undefined if the policy has no conditions.
 */
export function webhookGate(policy: CompiledPolicy): PolicySnapshot | undefined {
  const { kind, matchConditions, failurePolicy, name, source } = policy;
  if ((kind !== 'ClusterPolicy' && kind !== 'Policy') || matchConditions.length === 0) return undefined;
  const rule = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };
  const document: JsonObject = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: {
      failurePolicy,
      reinvocationPolicy: 'Never',
      matchConstraints: { resourceRules: [rule] },
      matchConditions: matchConditions.map((condition) => ({ ...condition })),
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
    },
  };
  const { policy: gate, problems } = celCompilers.compileAdmissionPolicy(document, source);
  if (gate === undefined)
    throw new Error(`the conditions of the webhook of ${name} do not compile: ${problems[0]?.message}`);
  return createSnapshot([gate], []);
}

/** What the conditions say. */
export function callOf({ outcomes, failedPolicies }: Result): Call {
  const [failed] = failedPolicies;
  if (failed !== undefined) return failed.failurePolicy === 'Fail' ? 'denied' : 'skipped';
  return outcomes.some(({ status }) => status === 'unchanged') ? 'called' : 'skipped';
}

/** Whether the webhook is registered for the kind and operation of a request, which gave this result. */
export function isRegistered({ outcomes }: Result): boolean {
  return outcomes.some(
    (outcome) =>
      outcome.status !== 'skipped' ||
      outcome.reason.type !== 'match' ||
      outcome.reason.clauses.some(({ attribute }) => attribute !== 'kinds' && attribute !== 'operations'),
  );
}
