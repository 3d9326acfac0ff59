import type { CompiledPolicy } from '../policy/compiled.ts';
import { type PolicySnapshot, partOf } from '../policy/registry/registry.ts';

/** `enforce` applies the changes of a policy; `audit` only reports them. */
export type PolicyMode = 'enforce' | 'audit';

export function modeOf(policy: CompiledPolicy): PolicyMode {
  return Object.hasOwn(policy.annotations, 'kymera.io/mode') &&
    policy.annotations['kymera.io/mode'] === 'audit'
    ? 'audit'
    : 'enforce';
}

export interface PoliciesByMode {
  readonly enforced: PolicySnapshot;
  /** Absent when no policy is in audit mode. */
  readonly audited?: PolicySnapshot | undefined;
}

/** Splits each snapshot by mode once: a snapshot serves many requests. */
export function createModeSplitter(): (snapshot: PolicySnapshot) => PoliciesByMode {
  const known = new WeakMap<PolicySnapshot, PoliciesByMode>();
  return (snapshot) => {
    let split = known.get(snapshot);
    if (split === undefined) {
      split = splitByMode(snapshot);
      known.set(snapshot, split);
    }
    return split;
  };
}

function splitByMode(snapshot: PolicySnapshot): PoliciesByMode {
  if (!snapshot.policies.some((policy) => modeOf(policy) === 'audit')) return { enforced: snapshot };
  const inMode = (mode: PolicyMode) => partOf(snapshot, (policy) => modeOf(policy) === mode);
  return { enforced: inMode('enforce'), audited: inMode('audit') };
}
