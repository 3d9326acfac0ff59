import type { PolicySets } from '../../admission/policy-provider.ts';
import { createPolicySetIndexers, createPolicySets } from '../../admission/policy-sets.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { readBoolean, readObject, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { type CelCompilers, celDocumentType } from '../../policy/cel-documents.ts';
import { compileException, type ExceptionResult } from '../../policy/compile/exception.ts';
import { compilePolicy, type PolicyResult } from '../../policy/compile/policy.ts';
import type { CompiledException, CompiledPolicy, PolicyKind } from '../../policy/compiled.ts';
import { policyId } from '../../policy/policy-id.ts';
import { type PolicyLimits, sizeProblem } from '../../policy/policy-limits.ts';
import { documentSource } from '../../policy/problem-collector.ts';
import type { Problem } from '../../problem.ts';
import { hasOwnEntry, pathGroupOf } from './grouping.ts';
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
  setException(kind: WatchedKind, key: string, object: JsonObject | undefined): void;
  /** Sorted by kind, then by name. */
  records(): readonly PolicyRecord[];
  /** The valid policies that this server runs; of several with the same name, the first. */
  policies(): readonly CompiledPolicy[];
  /** The PolicyExceptions that are in force. */
  exceptions(): Iterable<CompiledException>;
  /** Returns the same object until something changes. */
  sets(): PolicySets;
}

export interface CatalogOptions {
  readonly kinds: readonly WatchedKind[];
  readonly cel: CelCompilers;
  /** Namespaces whose PolicyExceptions apply; `*` for all. Default: none. */
  readonly exceptionNamespaces?: readonly string[] | undefined;
  /** Treat every policy as if its failurePolicy were Ignore. */
  readonly forceIgnore?: boolean | undefined;
  readonly limits?: PolicyLimits | undefined;
  /** Leave out the policies that the API server evaluates as MutatingAdmissionPolicies. */
  readonly omitGenerated?: boolean | undefined;
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
  const indexers = createPolicySetIndexers();
  const changed = () => {
    records = undefined;
    sets = undefined;
  };

  const currentRecords = () => {
    records ??= collect(byKind);
    return records;
  };
  const isOmitted = (object: JsonObject) => options.omitGenerated === true && isGenerated(object);
  const policiesThat = (areOmitted: boolean) =>
    currentRecords().flatMap(({ object, policy, hiddenBy }) =>
      policy === undefined || hiddenBy !== undefined || isOmitted(object) !== areOmitted ? [] : [policy],
    );
  const currentPolicies = () => policiesThat(false);

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
        if (isOmitted(before.object) !== isOmitted(object)) sets = undefined;
        return;
      } else known.set(key, { object, ...load(kind, key, object, options) });
      changed();
    },
    setException(kind, key, object) {
      const namespace = key.split('/')[0] ?? '';
      if (!exceptionNamespaces.has('*') && !exceptionNamespaces.has(namespace)) return;
      const isCompiled = object !== undefined && sizeProblem(object, options.limits) === undefined;
      const file = `${nameOf(kind)}/${key}`;
      const compiled = isCompiled ? exceptionOf(object, file, options.cel).exception : undefined;
      if (compiled === undefined) exceptions.delete(file);
      else exceptions.set(file, compiled);
      changed();
    },
    records: currentRecords,
    policies: currentPolicies,
    exceptions: () => exceptions.values(),
    sets() {
      sets ??= createPolicySets(currentPolicies(), [...exceptions.values()], {
        hasOwnPath: hasOwnEntry,
        groupOf: pathGroupOf,
        restrict: guardProtectedKinds,
        idle: policiesThat(true),
        indexers,
      });
      return sets;
    },
  };
}

/** Whether the status says that the API server evaluates a policy. */
export function isGenerated(object: JsonObject): boolean {
  return (
    readText(object, 'kind') === 'MutatingPolicy' &&
    readBoolean(readObject(object, 'status') ?? {}, 'generated') === true
  );
}

function load(
  kind: WatchedKind,
  key: string,
  object: JsonObject,
  { forceIgnore, limits, cel }: CatalogOptions,
): Omit<Loaded, 'object'> {
  const tooLarge = sizeProblem(object, limits);
  if (tooLarge !== undefined) return { problems: [tooLarge] };
  const { policy, problems } = policyOf(object, `${nameOf(kind)}/${key}`, cel);
  if (policy === undefined) return { problems };
  return { policy: forceIgnore === true ? { ...policy, failurePolicy: 'Ignore' } : policy, problems };
}

function nameOf({ type }: WatchedKind): string {
  return `${type.resource}.${type.group}`;
}

/** Compiles a policy of any kind that is stored in a cluster. */
export function policyOf(object: JsonObject, file: string, cel: CelCompilers): PolicyResult {
  const document = authoredPolicy(object);
  const source = documentSource(file, document);
  return celDocumentType(document) === 'mutatingPolicy'
    ? cel.compileMutatingPolicy(document, source, { strict: false })
    : compilePolicy(document, source);
}

/** Compiles an exception of either API group. */
export function exceptionOf(object: JsonObject, file: string, cel: CelCompilers): ExceptionResult {
  const source = documentSource(file, object);
  return celDocumentType(object) === 'celException'
    ? cel.compileException(object, source)
    : compileException(object, source);
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
        const id = policyId({ kind: kind.kind as PolicyKind, key });
        const hiddenBy = taken.get(id);
        if (hiddenBy === undefined && entry.policy !== undefined) taken.set(id, kind.type.group);
        return { kind, ...entry, ...(hiddenBy === undefined ? {} : { hiddenBy }) };
      }),
  );
}
