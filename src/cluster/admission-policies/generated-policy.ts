import { modeOf } from '../../admission/policy-mode.ts';
import type { RequestSettings } from '../../admission/policy-provider.ts';
import { type GeneratedSpec, generatedSpec, refusalText } from '../../convert/forms/generation.ts';
import { metadataOf, nameOf } from '../../json/metadata.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';
import { managedLabels } from '../api/names.ts';
import { apiVersionOf, resourceTypes } from '../api/resource-path.ts';
import { celWebhookRules, requiredConditions, selectorsOf } from '../webhooks/cel-entries.ts';
import type { WebhookSettings } from '../webhooks/settings.ts';
import { finalizer } from './owned-objects.ts';
import { requestConditions } from './request-conditions.ts';

/** A MutatingAdmissionPolicy and its binding, or why they would not do what the policy does. */
export type GeneratedPolicy =
  | { readonly policy: JsonObject; readonly binding: JsonObject }
  | { readonly reason: string };

export interface GenerationContext {
  readonly webhooks: WebhookSettings;
  readonly request: RequestSettings;
  /** The keys of the PolicyExceptions for the policy. */
  readonly exceptions: readonly string[];
}

/** The names that Kyverno gives. */
export const admissionPolicyName = (policy: string) => `mpol-${policy}`;
const bindingName = (policy: string) => `${admissionPolicyName(policy)}-binding`;

const longestName = 253;
const apiVersion = apiVersionOf(resourceTypes.admissionPolicies);

/**
 * The MutatingAdmissionPolicy of a MutatingPolicy. It applies to the requests for which the API server would call our
 * webhook. All defaults are set, so that the stored object can be compared.
 */
export function generatedPolicy(
  object: JsonObject,
  compiled: CompiledPolicy,
  { webhooks, request, exceptions }: GenerationContext,
): GeneratedPolicy {
  const name = nameOf(object);
  if (modeOf(compiled) === 'audit')
    return { reason: 'the policy is in audit mode, and a MutatingAdmissionPolicy changes objects' };
  if (exceptions.length > 0)
    return { reason: `a MutatingAdmissionPolicy has no exceptions: ${exceptions.join(', ')}` };
  if (bindingName(name).length > longestName)
    return { reason: `the name is too long: ${bindingName(name)} has more than ${longestName} characters` };
  const filters = requestConditions(request);
  if ('reason' in filters) return filters;
  const generated = specOf(object, compiled);
  if ('refusals' in generated) return { reason: refusalText(generated.refusals) };
  const { spec } = generated;
  const constraints = readObject(spec, 'matchConstraints') ?? {};
  const conditions = [
    ...requiredConditions(celWebhookRules(compiled), webhooks),
    ...filters.conditions,
    ...readObjects(spec, 'matchConditions'),
  ];
  const { matchConditions: _, ...others } = spec;
  const metadata = (own: string) => ({
    name: own,
    labels: { ...managedLabels },
    ownerReferences: [ownerOf(object)],
    finalizers: [finalizer],
  });
  return {
    policy: {
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata: metadata(admissionPolicyName(name)),
      spec: {
        failurePolicy: 'Fail',
        ...others,
        ...(conditions.length === 0 ? {} : { matchConditions: conditions }),
        matchConstraints: {
          matchPolicy: 'Equivalent',
          ...withScopes(constraints),
          ...selectorsOf(constraints, webhooks),
        },
      },
    },
    binding: {
      apiVersion,
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: metadata(bindingName(name)),
      spec: { policyName: admissionPolicyName(name) },
    },
  };
}

const specs = new WeakMap<CompiledPolicy, GeneratedSpec>();

/** Converted once: the policies are compared with the cluster at each change. */
function specOf(object: JsonObject, compiled: CompiledPolicy): GeneratedSpec {
  const known = specs.get(compiled);
  if (known !== undefined) return known;
  // The server may treat the failure policy as Ignore.
  const spec = { ...readObject(object, 'spec'), failurePolicy: compiled.failurePolicy };
  const made = generatedSpec({ ...object, spec });
  specs.set(compiled, made);
  return made;
}

function withScopes(constraints: JsonObject): JsonObject {
  const lists = ['resourceRules', 'excludeResourceRules'].flatMap((field) => {
    const rules = readObjects(constraints, field).map((rule) => ({ scope: '*', ...rule }));
    return rules.length === 0 ? [] : [[field, rules] as const];
  });
  return { ...constraints, ...Object.fromEntries(lists) };
}

function ownerOf(object: JsonObject): JsonObject {
  const { name = '', uid = '' } = metadataOf(object);
  return { apiVersion: readText(object, 'apiVersion') ?? '', kind: 'MutatingPolicy', name, uid };
}
