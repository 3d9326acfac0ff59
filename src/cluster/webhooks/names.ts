import { createHash } from 'node:crypto';
import type { FailureGroup } from '../policies/grouping.ts';

/** Names of the webhook configurations. They differ from Kyverno's, so that both can be installed. */
export const mutatingConfigurationName = 'kymera-resource-mutation';
export const validatingConfigurationName = 'kymera-policy-validation';
/** For requests that trigger mutateExisting and generate rules. */
export const triggerConfigurationName = 'kymera-resource-triggers';

type Verb = 'mutate' | 'validate';

export function sharedEntryName(group: FailureGroup, verb: Verb = 'mutate'): string {
  return `${group}.${verb}.kymera.io`;
}

/** The entry of namespaced policies, named after the first namespace it selects. */
export function namespacesEntryName(namespace: string, group: FailureGroup, verb: Verb = 'mutate'): string {
  return `${namespace}.namespace.${group}.${verb}.kymera.io`;
}

/** A fully qualified name. Policy names have at most 63 characters, so it is never too long. */
export function policyEntryName(key: string, group: FailureGroup, verb: Verb = 'mutate'): string {
  const [first = '', second] = key.split('/');
  const name = second === undefined ? `${first}.cluster-policy` : `${second}.${first}.policy`;
  return `${name}.${group}.${verb}.kymera.io`;
}

/** The entry of a MutatingPolicy, or of several that the API server can treat alike. */
export function celEntryName(id: string, group: FailureGroup, verb: Verb = 'mutate'): string {
  const [kind = '', key = ''] = id.split(':');
  const [first = '', second] = key.split('/');
  const name = second === undefined ? first : `${shortened(second)}.${first}`;
  return `${second === undefined ? shortened(name) : name}.${kind}.${group}.${verb}.kymera.io`;
}

/** `id` is `mpol:NAME`, `nmpol:NAMESPACE/NAME`, or `mpols:GROUP`. */
export function celPath(id: string, group: FailureGroup, verb: Verb = 'mutate'): string {
  return `/${verb}/${group}/${id.replace(':', '/')}`;
}

const longestName = 120;

/** Webhook names have at most 253 characters, and names of CEL policies can be as long. */
function shortened(name: string): string {
  if (name.length <= longestName) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${name.slice(0, longestName).replace(/[^a-z0-9]+$/, '')}-${hash}`;
}

export function sharedPath(group: FailureGroup, verb: Verb = 'mutate'): string {
  return `/${verb}/${group}`;
}

export function policyPath(key: string, group: FailureGroup, verb: Verb = 'mutate'): string {
  return `/${verb}/${group}/finegrained/${key}`;
}

export const policyReviewPath = '/policyvalidate';
