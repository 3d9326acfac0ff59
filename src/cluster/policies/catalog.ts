import type { PolicySets } from '../../admission/policy-provider.ts';
import { createPolicySets } from '../../admission/policy-sets.ts';
import { stringifyJson } from '../../json/json-text.ts';
import type { JsonObject } from '../../json/value.ts';
import { compileException } from '../../policy/compile/exception.ts';
import { compilePolicy } from '../../policy/compile/policy.ts';
import type { CompiledException, CompiledPolicy } from '../../policy/compiled.ts';
import { type PolicyLimits, sizeProblem } from '../../policy/policy-limits.ts';
import type { Problem } from '../../problem.ts';
import { hasOwnEntry } from './grouping.ts';
import type { WatchedKind } from './kinds.ts';
import { guardProtectedKinds } from './protected-kinds.ts';
import { authoredPolicy } from './stored-policy.ts';

/** A policy in the cluster, whether it applies or not. */
export interface PolicyRecord {
  readonly kind: WatchedKind;
  /** The stored object, including its status. */
  readonly object: JsonObject;
  /** Absent if the policy is invalid. */
  readonly policy?: CompiledPolicy | undefined;
  readonly problems: readonly Problem[];
  /** The API group of a policy with the same name, which takes precedence. */
  readonly hiddenBy?: string | undefined;
}

export interface PolicyCatalog {
  set(kind: WatchedKind, key: string, object: JsonObject | undefined): void;
  setException(key: string, object: JsonObject | undefined): void;
  /** Sorted by kind, then by name. */
  records(): readonly PolicyRecord[];
  /** The valid policies; of several with the same name, the first. */
  policies(): readonly CompiledPolicy[];
  /** Returns the same object until something changes. */
  sets(): PolicySets;
}

export interface CatalogOptions {
  readonly kinds: readonly WatchedKind[];
  /** Namespaces whose PolicyExceptions apply; `*` for all. Default: none. */
  readonly exceptionNamespaces?: readonly string[] | undefined;
  /** Treat every policy as if its failurePolicy were Ignore. */
  readonly forceIgnore?: boolean | undefined;
  readonly limits?: PolicyLimits | undefined;
}

interface Loaded {
  readonly object: JsonObject;
  readonly policy?: CompiledPolicy | undefined;
  readonly problems: readonly Problem[];
}

export function createPolicyCatalog(options: CatalogOptions): PolicyCatalog {
  const byKind = new Map(options.kinds.map((kind) => [kind, new Map<string, Loaded>()]));
  const exceptions = new Map<string, CompiledException>();
  const exceptionNamespaces = new Set(options.exceptionNamespaces ?? []);
  let records: readonly PolicyRecord[] | undefined;
  let sets: PolicySets | undefined;
  const changed = () => {
    records = undefined;
    sets = undefined;
  };

  const currentRecords = () => {
    records ??= collect(byKind);
    return records;
  };
  const currentPolicies = () =>
    currentRecords().flatMap(({ policy, hiddenBy }) =>
      policy === undefined || hiddenBy !== undefined ? [] : [policy],
    );

  return {
    set(kind, key, object) {
      const known = byKind.get(kind);
      if (known === undefined) return;
      const before = known.get(key);
      if (object === undefined) known.delete(key);
      else if (before !== undefined && isSameSpec(before.object, object)) {
        // Only the status changed: nothing to compile or to report.
        known.set(key, { ...before, object });
        records = undefined;
        return;
      } else known.set(key, { object, ...load(kind, key, object, options) });
      changed();
    },
    setException(key, object) {
      const namespace = key.split('/')[0] ?? '';
      if (!exceptionNamespaces.has('*') && !exceptionNamespaces.has(namespace)) return;
      const isCompiled = object !== undefined && sizeProblem(object, options.limits) === undefined;
      const compiled = isCompiled
        ? compileException(object, { file: `policyexceptions/${key}` }).exception
        : undefined;
      if (compiled === undefined) exceptions.delete(key);
      else exceptions.set(key, compiled);
      changed();
    },
    records: currentRecords,
    policies: currentPolicies,
    sets() {
      sets ??= createPolicySets(currentPolicies(), [...exceptions.values()], {
        hasOwnPath: hasOwnEntry,
        restrict: guardProtectedKinds,
      });
      return sets;
    },
  };
}

function load(
  kind: WatchedKind,
  key: string,
  object: JsonObject,
  { forceIgnore, limits }: CatalogOptions,
): Omit<Loaded, 'object'> {
  const tooLarge = sizeProblem(object, limits);
  if (tooLarge !== undefined) return { problems: [tooLarge] };
  const { policy, problems } = compilePolicy(authoredPolicy(object), {
    file: `${kind.type.resource}.${kind.type.group}/${key}`,
  });
  if (policy === undefined) return { problems };
  return { policy: forceIgnore === true ? { ...policy, failurePolicy: 'Ignore' } : policy, problems };
}

function isSameSpec(before: JsonObject, after: JsonObject): boolean {
  const mark = ({ metadata }: JsonObject) => {
    const { uid, generation, annotations, labels } = (metadata ?? {}) as JsonObject;
    return generation === undefined
      ? undefined
      : stringifyJson([uid ?? null, generation, annotations ?? null, labels ?? null]);
  };
  return mark(before) !== undefined && mark(before) === mark(after);
}

function collect(byKind: ReadonlyMap<WatchedKind, ReadonlyMap<string, Loaded>>): readonly PolicyRecord[] {
  const taken = new Map<string, string>();
  return [...byKind].flatMap(([kind, loaded]) =>
    [...loaded]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, entry]): PolicyRecord => {
        const hiddenBy = taken.get(key);
        if (hiddenBy === undefined && entry.policy !== undefined) taken.set(key, kind.type.group);
        return { kind, ...entry, ...(hiddenBy === undefined ? {} : { hiddenBy }) };
      }),
  );
}
