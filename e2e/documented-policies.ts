import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { JsonObject } from '../src/json/value.ts';

export interface DocumentedPolicy {
  readonly id: string;
  /** The policy as documented. */
  readonly text: string;
  readonly document: JsonObject & { readonly apiVersion: string; readonly kind: string };
}

interface CaseFile {
  readonly cases: readonly { readonly id: string; readonly policy: string }[];
}

/** The policies of the documented examples, which the conformance cases contain unchanged. */
export function documentedPolicies(file: 'seeds-002' | 'seeds-003'): readonly DocumentedPolicy[] {
  const path = new URL(`../test/conformance/cases/${file}.yaml`, import.meta.url);
  const { cases } = parse(readFileSync(path, 'utf8')) as CaseFile;
  return cases.map(({ id, policy }) => ({ id, text: policy, document: parse(policy) }));
}

export function documentedPolicy(file: 'seeds-002' | 'seeds-003', id: string): DocumentedPolicy {
  const found = documentedPolicies(file).find((policy) => policy.id === id);
  if (!found) throw new Error(`no documented policy ${id}`);
  return found;
}
