import type { VarEntry } from './kustomization.ts';
import type { ResourceSet } from './resource-set.ts';

/** The `vars` of all kustomizations of a build. */
export type Variables = readonly VarEntry[];

export function mergeVars(
  known: Variables,
  more: readonly VarEntry[],
  _set: ResourceSet,
  _file: string,
): Variables {
  return [...known, ...more];
}
