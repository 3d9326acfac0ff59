import { kindOf } from '../admission/resource-request.ts';
import type { JsonObject } from '../json/value.ts';

/**
 * What an input object is to the command line: policies among resources are passed through and not mutated;
 * documents that only steer the command line (tests, values) are left out.
 */
export function resourceRole(object: JsonObject): 'resource' | 'policy' | 'tooling' {
  const { group } = kindOf(object);
  if (group === 'cli.kyverno.io' || group === 'cli.kymera.io') return 'tooling';
  return policyGroups.has(group) ? 'policy' : 'resource';
}

const policyGroups = new Set(['kyverno.io', 'policies.kyverno.io', 'policy.nirmata.io', 'kymera.io']);
