import type { BuildContext } from './build-context.ts';
import type { Kustomization } from './kustomization.ts';
import type { ResourceSet } from './resource-set.ts';

/**
 * The stages that `generators`, `transformers` and `validators` of one kustomization ask for, in the order of the
 * build. Configs are read once, when the stages are made.
 */
export interface PluginStages {
  /** After the built-in generators: adds what the generators make. */
  generate(set: ResourceSet): Promise<void>;
  /** Before the built-in transformers: plugins of the proposal's layout. */
  transformBeforeBuiltins(set: ResourceSet): Promise<void>;
  /** After the built-in transformers. */
  transform(set: ResourceSet): Promise<void>;
  validate(set: ResourceSet): Promise<void>;
}

export async function preparePlugins(
  _kustomization: Kustomization,
  _context: BuildContext,
): Promise<PluginStages> {
  throw new Error('not built yet');
}
