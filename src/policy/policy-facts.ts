import { hasVariable } from '../expression/template/tokens.ts';

/** What checks of a rule need to know about its policy. */
export interface PolicyFacts {
  readonly apiVersion: string;
  readonly namespaced: boolean;
  /** Only when the document names it: a Policy gets its namespace when it is applied. */
  readonly namespace?: string | undefined;
  /** Applies to existing objects too, where there is no request and no requester. */
  readonly background: boolean;
  /** Some rule mutates existing objects. */
  readonly mutatesExisting: boolean;
  readonly mutateExistingOnPolicyUpdate: boolean;
  /** For generate rules that do not say it themselves. */
  readonly generateExisting: boolean;
  /** The autogen annotation, when it is there. */
  readonly autogenControllers?: string | undefined;
}

/** A literal namespace other than that of the namespaced policy. */
export function isForeign(namespace: string, facts: PolicyFacts): boolean {
  if (!facts.namespaced || facts.namespace === undefined || namespace === '') return false;
  return namespace !== facts.namespace && !hasVariable(namespace);
}
