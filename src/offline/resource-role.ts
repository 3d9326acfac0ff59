import { kindOf } from '../admission/resource-request.ts';
import type { JsonObject } from '../json/value.ts';

/**
 * The role of an input object. Policies among resources are printed but not mutated. Documents for the command line itself
 * (tests, values) are dropped.
 */
export function resourceRole(object: JsonObject): 'resource' | 'policy' | 'tooling' {
  const { group } = kindOf(object);
  if (group === 'cli.kyverno.io' || group === 'cli.kymera.io') return 'tooling';
  return policyGroups.has(group) ? 'policy' : 'resource';
}

const policyGroups = new Set(['kyverno.io', 'policies.kyverno.io', 'policy.nirmata.io', 'kymera.io']);
