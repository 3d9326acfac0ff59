import type { PolicySnapshot } from '../policy/registry/registry.ts';

/** The active policies, by the path that an API server calls. Immutable. */
export interface PolicySets {
  /** For `/mutate`. */
  readonly all: PolicySnapshot;
  /** For `/mutate/ignore`. */
  readonly ignore: PolicySnapshot;
  /** For `/mutate/fail`. */
  readonly fail: PolicySnapshot;
  /** For paths of one policy, by `policyId`, or of one group of policies. */
  policy(id: string): PolicySnapshot | undefined;
}

/** The source of the server's policies: files, or informers in a cluster. */
export interface PolicyProvider {
  /** The same object until the next change. */
  current(): PolicySets;
  readiness(): Readiness;
  /** Calls the listener after each change; returns a function that unsubscribes it. */
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

/** Settings for all requests, from flags or from the ConfigMap of the cluster. They may change at any time. */
export interface RequestSettings {
  /** `[kind,namespace,name]` groups, as in Kyverno's ConfigMap. */
  readonly resourceFilters: string;
  /** Wildcards. An entry with `!` exempts its users from exclusion. */
  readonly excludeUsernames: readonly string[];
  readonly excludeGroups: readonly string[];
  readonly excludeRoles: readonly string[];
  readonly excludeClusterRoles: readonly string[];
  /** The registry of images that name none, where policies read them. */
  readonly defaultRegistry: string;
  readonly enableDefaultRegistryMutation: boolean;
  /** Limit in bytes for all context entries of a request together; 0 for no limit. */
  readonly maxContextSize: number;
}

/** The defaults filter nothing. */
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
