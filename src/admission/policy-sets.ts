import type { CompiledException, CompiledPolicy } from '../policy/compiled.ts';
import { lazy } from '../policy/lazy.ts';
import { groupPrefix, policyId } from '../policy/policy-id.ts';
import {
  createPolicyIndexer,
  createSnapshot,
  type PolicyIndexer,
  type PolicySnapshot,
} from '../policy/registry/registry.ts';
import type { PolicySets } from './policy-provider.ts';

export interface PolicySetOptions {
  /** Policies that the API server calls only by a path of their own are not in the sets of a failure policy. */
  readonly hasOwnPath?: ((policy: CompiledPolicy) => boolean) | undefined;
  /** The set of a path that runs several policies; its id is no `policyId`. */
  readonly groupOf?: ((policy: CompiledPolicy) => string | undefined) | undefined;
  /** Applied to each snapshot: restricts what its policies may match. */
  readonly restrict?: ((snapshot: PolicySnapshot) => PolicySnapshot) | undefined;
  /** Policies that run elsewhere. The API server may still call their paths for a moment. */
  readonly idle?: readonly CompiledPolicy[] | undefined;
  /** For sets that follow one another. */
  readonly indexers?: PolicySetIndexers | undefined;
}

/** Keep the indexes of the sets with many policies, so that a change of one policy costs little. */
export type PolicySetIndexers = Readonly<Record<'all' | 'ignore' | 'fail', PolicyIndexer>>;

export function createPolicySetIndexers(): PolicySetIndexers {
  return { all: createPolicyIndexer(), ignore: createPolicyIndexer(), fail: createPolicyIndexer() };
}

/** Indexes policies for every path of the server. The set of a single policy is created on its first use. */
export function createPolicySets(
  policies: readonly CompiledPolicy[],
  exceptions: readonly CompiledException[] = [],
  {
    hasOwnPath = () => false,
    groupOf = () => undefined,
    restrict = (snapshot) => snapshot,
    idle = [],
    indexers,
  }: PolicySetOptions = {},
): PolicySets {
  const all = createSnapshot(policies, exceptions, { indexer: indexers?.all });
  // In the order of `all`, which is sorted.
  const snapshotOf = (chosen: readonly CompiledPolicy[], indexer?: PolicyIndexer) =>
    restrict(createSnapshot(chosen, exceptions, { order: 'given', indexer }));
  const ofFailurePolicy = (wanted: CompiledPolicy['failurePolicy'], indexer?: PolicyIndexer) =>
    lazy(() =>
      snapshotOf(
        all.policies.filter((each) => each.failurePolicy === wanted && !hasOwnPath(each)),
        indexer,
      ),
    );
  const ignore = ofFailurePolicy('Ignore', indexers?.ignore);
  const fail = ofFailurePolicy('Fail', indexers?.fail);
  let byId: ReadonlyMap<string, readonly CompiledPolicy[]> | undefined;
  const ofPath = new Map<string, PolicySnapshot>();
  const none = snapshotOf([]);
  const idleIds = new Set(idle.map(policyId));
  return {
    all: restrict(all),
    get ignore() {
      return ignore();
    },
    get fail() {
      return fail();
    },
    policy(id) {
      byId ??= policiesById(all.policies, groupOf);
      // The last policy of a group may just have been deleted: as for the paths of a failure policy, none is left to run.
      const members = byId.get(id) ?? (id.startsWith(groupPrefix) || idleIds.has(id) ? [] : undefined);
      if (members === undefined) return undefined;
      if (members.length === 0) return none;
      const known = ofPath.get(id) ?? snapshotOf(members);
      ofPath.set(id, known);
      return known;
    },
  };
}

function policiesById(
  policies: readonly CompiledPolicy[],
  groupOf: NonNullable<PolicySetOptions['groupOf']>,
): ReadonlyMap<string, readonly CompiledPolicy[]> {
  const byId = new Map<string, CompiledPolicy[]>();
  const add = (id: string, policy: CompiledPolicy) => {
    const members = byId.get(id);
    if (members === undefined) byId.set(id, [policy]);
    else members.push(policy);
  };
  for (const policy of policies) {
    const id = policyId(policy);
    const group = groupOf(policy);
    add(id, policy);
    if (group !== undefined && group !== id) add(group, policy);
  }
  return byId;
}
