import { writeSet } from '../../analysis/writes/write-set.ts';
import { formatSteps, type Write } from '../../analysis/writes/write-step.ts';
import type { CompiledPolicy, CompiledRule } from '../../policy/compiled.ts';
import { type IgnoredPath, ignoredPath, isInside } from './path.ts';

/** The writes of policies to objects of one kind. */
export interface KindHints {
  readonly group: string;
  readonly kind: string;
  /** Set when only a Policy of this namespace writes. */
  readonly namespace?: string | undefined;
  readonly paths: readonly PathHint[];
  /** Rules that may write anywhere in the object. */
  readonly anywhere: readonly string[];
  /** Whether a rule mutates existing objects in the background. */
  readonly writesExisting: boolean;
}

export interface PathHint {
  readonly path: IgnoredPath;
  /** For a person: `spec.containers[name=side]`. */
  readonly place: string;
  /** `POLICY/RULE` of each rule that writes this path. */
  readonly rules: readonly string[];
  /** The rules only set the field when it is absent, so a value in Git is kept. */
  readonly onlyWhereAbsent: boolean;
}

interface Entry {
  readonly write: Write;
  readonly rule: string;
  readonly existing: boolean;
}

/** The order does not depend on the order of the policies. */
export function gitopsHints(policies: readonly CompiledPolicy[]): readonly KindHints[] {
  const kinds = new Map<
    string,
    { group: string; kind: string; namespace?: string | undefined; entries: Entry[] }
  >();
  for (const policy of policies) {
    for (const rule of policy.rules) {
      for (const { kind, writes } of writeSet(rule)) {
        const { group, kind: name } = kind;
        const { namespace } = policy;
        const key = `${group} ${name} ${namespace ?? ''}`;
        const known = kinds.get(key) ?? { group, kind: name, ...(namespace && { namespace }), entries: [] };
        kinds.set(key, known);
        known.entries.push(...writes.map((write) => entryOf(policy, rule, write)));
      }
    }
  }
  return [...kinds]
    .sort(([left], [right]) => compare(left, right))
    .map(([, { entries, ...kind }]) => ({
      ...kind,
      paths: pathHints(entries),
      anywhere: unique(entries.filter(({ write }) => write.path.length === 0).map(({ rule }) => rule)),
      writesExisting: entries.some(({ existing }) => existing),
    }));
}

function entryOf(policy: CompiledPolicy, rule: CompiledRule, write: Write): Entry {
  return {
    write,
    rule: `${policy.key}/${rule.autogenOf ?? rule.name}`,
    existing: rule.targets !== undefined,
  };
}

function pathHints(entries: readonly Entry[]): readonly PathHint[] {
  const writes = entries.map(({ write }) => write);
  const hints = new Map<string, { path: IgnoredPath; place: string; entries: Entry[] }>();
  for (const entry of entries) {
    const { write } = entry;
    if (write.path.length === 0 || writes.some((other) => isInside(write, other))) continue;
    const path = ignoredPath(write, writes);
    if (path === undefined) continue;
    const hint = hints.get(path.text) ?? { path, place: formatSteps(write.path), entries: [] };
    hints.set(path.text, hint);
    hint.entries.push(entry);
  }
  return [...hints.values()]
    .sort((left, right) => compare(left.path.text, right.path.text))
    .map(({ path, place, entries: found }) => ({
      path,
      place,
      rules: unique(found.map(({ rule }) => rule)),
      onlyWhereAbsent: found.every(({ write }) => write.effect === 'default'),
    }));
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort(compare);
}

/** By code unit, which does not depend on the locale. */
function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
