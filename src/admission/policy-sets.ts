import type { CompiledException, CompiledPolicy } from '../policy/compiled.ts';
import { createSnapshot, type PolicySnapshot } from '../policy/registry.ts';
import type { PolicySets } from './policy-provider.ts';

export interface PolicySetOptions {
  /** Policies that the API server calls only by a path of their own are not in the sets of a failure policy. */
  readonly hasOwnPath?: ((policy: CompiledPolicy) => boolean) | undefined;
  /** Applied to each snapshot: restricts what its policies may match. */
  readonly restrict?: ((snapshot: PolicySnapshot) => PolicySnapshot) | undefined;
}

/** Indexes policies for every path of the server. The set of a single policy is created on its first use. */
export function createPolicySets(
  policies: readonly CompiledPolicy[],
  exceptions: readonly CompiledException[] = [],
  { hasOwnPath = () => false, restrict = (snapshot) => snapshot }: PolicySetOptions = {},
): PolicySets {
  const all = createSnapshot(policies, exceptions);
  // In the order of `all`, which is sorted.
  const snapshotOf = (chosen: readonly CompiledPolicy[]) =>
    restrict(createSnapshot(chosen, exceptions, { order: 'given' }));
  const shared = all.policies.filter((policy) => !hasOwnPath(policy));
  const byKey = new Map(policies.map((policy) => [policy.key, policy]));
  const single = new Map<string, PolicySnapshot>();
  return {
    all: restrict(all),
    ignore: snapshotOf(shared.filter(({ failurePolicy }) => failurePolicy === 'Ignore')),
    fail: snapshotOf(shared.filter(({ failurePolicy }) => failurePolicy === 'Fail')),
    policy(key) {
      const policy = byKey.get(key);
      if (policy === undefined) return undefined;
      const known = single.get(key) ?? snapshotOf([policy]);
      single.set(key, known);
      return known;
    },
  };
}
