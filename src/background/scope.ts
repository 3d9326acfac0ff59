import { checkScope } from '../engine/context/context.ts';
import { hasWildcard } from '../expression/wildcard.ts';
import type { CompiledPolicy } from '../policy/compiled.ts';
import { scopeViolation } from '../policy/policy-scope.ts';
import type { ObjectReader, ObjectRef } from './ports.ts';

type Owner = Pick<CompiledPolicy, 'namespace'>;
type Scopes = Pick<ObjectReader, 'isNamespaced'>;

/**
 * The object that a policy may access under this reference. For a namespaced Policy, an empty namespace is its own. Throws
 * KYM_NAMESPACE_BOUNDARY for cluster-scoped objects, other namespaces and kinds of unknown scope.
 */
export function inScope<T extends ObjectRef>(policy: Owner, ref: T, reader: Scopes): T {
  const { namespace } = policy;
  if (namespace === undefined) return ref;
  const isExact = !hasWildcard(ref.apiVersion) && !hasWildcard(ref.kind);
  checkScope(
    { policyNamespace: namespace },
    {
      type: 'object',
      kind: ref.kind,
      namespaced: isExact ? reader.isNamespaced(ref.apiVersion, ref.kind) : undefined,
      namespace: ref.namespace,
    },
  );
  return { ...ref, namespace };
}

/** The same for a list, whose kind may be a wildcard: lists in a namespace contain no cluster-scoped objects. */
export function listInScope(
  policy: Owner,
  query: { readonly apiVersion: string; readonly kind: string; readonly namespace: string },
  reader: Scopes,
): string {
  const { namespace } = policy;
  if (namespace === undefined) return query.namespace;
  const namespaced = hasWildcard(query.kind) || reader.isNamespaced(query.apiVersion, query.kind);
  checkScope(
    { policyNamespace: namespace },
    { type: 'object', kind: query.kind, namespaced, namespace: query.namespace },
  );
  return namespace;
}

/** Whether a policy may access an object that was read. */
export function isInScope(policy: Owner, ref: ObjectRef, reader: Scopes): boolean {
  const access = {
    type: 'object',
    kind: ref.kind,
    namespaced: reader.isNamespaced(ref.apiVersion, ref.kind),
    // Without a namespace an object is cluster-scoped, whatever its kind says.
    namespace: ref.namespace === '' ? '-' : ref.namespace,
  } as const;
  return scopeViolation(policy.namespace, access) === undefined;
}
