import type { BuildContext } from './build-context.ts';
import type { ReplacementEntry } from './kustomization.ts';
import type { ResourceSet } from './resource-set.ts';

/** `replacements`, one after another. */
export function applyReplacements(
  _set: ResourceSet,
  _entries: readonly ReplacementEntry[],
  _context: BuildContext,
): void {
  throw new Error('not built yet');
}
