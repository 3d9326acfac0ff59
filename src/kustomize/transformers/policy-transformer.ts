import { type JsonObject, member } from '../../json/value.ts';

/** Runs policies over the resources of a build: the program around the build knows how. */
export interface PolicyRunner {
  /**
   * The objects as the policies leave them, in the same order. Throws KustomizeError when a policy is not well-formed or
   * a rule fails.
   */
  run(
    policies: readonly JsonObject[],
    objects: readonly JsonObject[],
    place: PolicyPlace,
  ): Promise<readonly JsonObject[]>;
}

export interface PolicyPlace {
  /** The kustomization that lists the policies. */
  readonly file: string;
  /** Its folder, to which files that a config names are relative. */
  readonly root: string;
  /** Text of a file that a config names; throws outside the root. */
  readText(path: string, field: string): string;
}

const policyGroups = new Set(['kyverno.io', 'kymera.io', 'policies.kyverno.io']);
const policyKinds = new Set(['ClusterPolicy', 'Policy', 'PolicyTransformer']);

/** Whether a config under `transformers` is a policy, or names files with some; it is run without any program. */
export function isPolicyConfig(config: JsonObject): boolean {
  const apiVersion = member(config, 'apiVersion');
  const kind = member(config, 'kind');
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return false;
  return policyGroups.has(apiVersion.split('/')[0] ?? '') && policyKinds.has(kind);
}
