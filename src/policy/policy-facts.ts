import { hasVariable } from '../expression/template/tokens.ts';

/** Properties of a policy that the checks of its rules need. */
export interface PolicyFacts {
  readonly apiVersion: string;
  readonly namespaced: boolean;
  /** Set only if the document contains it: a Policy gets its namespace when it is applied. */
  readonly namespace?: string | undefined;
  /** Also applies to existing objects, without a request and requester. */
  readonly background: boolean;
  /** Some rule mutates existing objects. */
  readonly mutatesExisting: boolean;
  readonly mutateExistingOnPolicyUpdate: boolean;
  /** The default for generate rules. */
  readonly generateExisting: boolean;
  /** Generate rules write with server-side apply. */
  readonly useServerSideApply: boolean;
  /** The autogen annotation, if present. */
  readonly autogenControllers?: string | undefined;
}

/** A literal namespace in a namespaced policy whose own namespace is not known until it is applied. */
export function mayBeForeign(namespace: string, facts: PolicyFacts): boolean {
  return facts.namespaced && facts.namespace === undefined && namespace !== '' && !hasVariable(namespace);
}

/** A literal namespace other than that of the namespaced policy. */
export function isForeign(namespace: string, facts: PolicyFacts): boolean {
  if (!facts.namespaced || facts.namespace === undefined || namespace === '') return false;
  return namespace !== facts.namespace && !hasVariable(namespace);
}
