import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { stringifyJson } from '../json/json-text.ts';
import { isObject, type Json, type JsonObject } from '../json/value.ts';

/** A rule that blocked a process for objects of a namespace. */
export interface Blockage {
  /** Unique, so that a blockage that several stores hold counts once. */
  readonly id: string;
  readonly policy: string;
  readonly rule: string;
  /** Of the rule's document: a rule that was changed gets another chance. */
  readonly fingerprint: string;
  /** The namespace of the object. */
  readonly namespace: string;
}

/** A rule that has blocked this often no longer runs for objects of the namespace. */
export const blockagesUntilStuck = 2;

export function blockageKey(fingerprint: string, policy: string, namespace: string): string {
  return `${fingerprint} ${policy} ${namespace}`;
}

/** The rules that no longer run, by key. */
export function stuckRules(blockages: Iterable<Blockage>): ReadonlyMap<string, Blockage> {
  const ids = new Map<string, Set<string>>();
  const stuck = new Map<string, Blockage>();
  for (const blockage of blockages) {
    const key = blockageKey(blockage.fingerprint, blockage.policy, blockage.namespace);
    const seen = ids.get(key) ?? new Set();
    ids.set(key, seen.add(blockage.id));
    if (seen.size >= blockagesUntilStuck) stuck.set(key, blockage);
  }
  return stuck;
}

export function fingerprintOf({ document }: { readonly document: JsonObject }): string {
  return bytesToHex(sha256(new TextEncoder().encode(stringifyJson(document)))).slice(0, 16);
}

const fields = ['id', 'policy', 'rule', 'fingerprint', 'namespace'] as const;

/** Undefined for anything else: stores may be edited by hand, or end in the middle of an entry. */
export function readBlockage(value: Json): Blockage | undefined {
  if (!isObject(value) || fields.some((field) => typeof value[field] !== 'string')) return undefined;
  const { id, policy, rule, fingerprint, namespace } = value as unknown as Blockage;
  return { id, policy, rule, fingerprint, namespace };
}
