import type { BuildContext } from './build-context.ts';
import type { PatchEntry } from './kustomization.ts';
import type { ResourceSet } from './resource-set.ts';

/** `patchesStrategicMerge`: files or inline texts, each finds its resource by its own id. */
export function applyStrategicMergePatches(
  _set: ResourceSet,
  _entries: readonly string[],
  _context: BuildContext,
): void {
  throw new Error('not built yet');
}

/** `patches`: strategic merge or JSON patches to whatever their target selects. */
export function applyPatches(
  _set: ResourceSet,
  _entries: readonly PatchEntry[],
  _context: BuildContext,
): void {
  throw new Error('not built yet');
}

/** `patchesJson6902`. */
export function applyJson6902Patches(
  _set: ResourceSet,
  _entries: readonly PatchEntry[],
  _context: BuildContext,
): void {
  throw new Error('not built yet');
}
