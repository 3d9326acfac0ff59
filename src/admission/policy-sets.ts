import type { CompiledException, CompiledPolicy } from '../policy/compiled.ts';
import { createSnapshot, type PolicySnapshot } from '../policy/registry.ts';
import type { PolicySets } from './policy-provider.ts';

/** Indexes policies for every path of the server. Sets of one policy are made when they are first asked for. */
export function createPolicySets(
  policies: readonly CompiledPolicy[],
  exceptions: readonly CompiledException[] = [],
): PolicySets {
  const byFailurePolicy = (wanted: CompiledPolicy['failurePolicy']) =>
    createSnapshot(
      policies.filter(({ failurePolicy }) => failurePolicy === wanted),
      exceptions,
    );
  const byKey = new Map(policies.map((policy) => [policy.key, policy]));
  const single = new Map<string, PolicySnapshot>();
  return {
    all: createSnapshot(policies, exceptions),
    ignore: byFailurePolicy('Ignore'),
    fail: byFailurePolicy('Fail'),
    policy(key) {
      const known = single.get(key);
      const policy = byKey.get(key);
      if (known !== undefined || policy === undefined) return known;
      const snapshot = createSnapshot([policy], exceptions);
      single.set(key, snapshot);
      return snapshot;
    },
  };
}
