import type { PolicySnapshot } from '../policy/registry.ts';

/** The policies in force at one moment, by the path that an API server calls. Immutable. */
export interface PolicySets {
  /** For `/mutate`. */
  readonly all: PolicySnapshot;
  /** For `/mutate/ignore`. */
  readonly ignore: PolicySnapshot;
  /** For `/mutate/fail`. */
  readonly fail: PolicySnapshot;
  /** For `/mutate/…/finegrained/KEY`: one policy, by `name` or `namespace/name`. */
  policy(key: string): PolicySnapshot | undefined;
}

/** Where the server gets its policies from: files when it stands alone, informers in a cluster. */
export interface PolicyProvider {
  /** The same object until the next change. */
  current(): PolicySets;
  readiness(): Readiness;
  /** Calls back after each change; returns what ends that. */
  onChange(listener: () => void): () => void;
}

export interface Readiness {
  readonly ready: boolean;
  readonly checks: readonly ReadinessCheck[];
}

export interface ReadinessCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail?: string | undefined;
}

/** What applies to every request whatever the policies: from flags or, in a cluster, from the ConfigMap. May change at any time. */
export interface RequestSettings {
  /** `[kind,namespace,name]` groups, as in Kyverno's ConfigMap. */
  readonly resourceFilters: string;
  /** Wildcards; an entry after `!` is let through whatever the others say. */
  readonly excludeUsernames: readonly string[];
  readonly excludeGroups: readonly string[];
  readonly excludeRoles: readonly string[];
  readonly excludeClusterRoles: readonly string[];
  /** Put in front of images without one, where policies read them. */
  readonly defaultRegistry: string;
  readonly enableDefaultRegistryMutation: boolean;
  /** Bytes that the context entries of a request may hold together; 0 for any number. */
  readonly maxContextSize: number;
}

/** Without configuration nothing is filtered. */
export const defaultRequestSettings: RequestSettings = {
  resourceFilters: '',
  excludeUsernames: [],
  excludeGroups: [],
  excludeRoles: [],
  excludeClusterRoles: [],
  defaultRegistry: 'docker.io',
  enableDefaultRegistryMutation: true,
  maxContextSize: 2 * 1024 * 1024,
};
