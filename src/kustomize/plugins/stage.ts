import { isObject, type JsonObject, member } from '../../json/value.ts';
import type { BuildContext } from '../build-context.ts';
import type { Kustomization } from '../kustomization/kustomization.ts';
import { withLocation } from '../kustomize-error.ts';
import type { ResourceSet } from '../resource/resource-set.ts';
import type { PluginGroup } from './by-group.ts';
import { patchConfigs } from './config-patches.ts';
import type { PluginRole } from './plugin-name.ts';
import { addGenerated } from './result.ts';
import { groupPlugin, type Plugin, pluginFor } from './runner.ts';
import { validateBy } from './validator.ts';

/**
 * The stages of `generators`, `transformers` and `validators` of one kustomization, in build order. Configs are read once,
 * when the stages are created.
 */
export interface PluginStages {
  /** The kustomization without patches that only apply to configs. */
  readonly kustomization: Kustomization;
  /** Runs after the built-in generators. */
  generate(set: ResourceSet): Promise<void>;
  /** Runs group plugins, before the built-in transformers. */
  transformBeforeBuiltins(set: ResourceSet): Promise<void>;
  /** Runs after the built-in transformers. */
  transform(set: ResourceSet): Promise<void>;
  validate(set: ResourceSet): Promise<void>;
}

interface Entry {
  readonly config: JsonObject;
  /** The file of the config; undefined for inline YAML. */
  readonly file: string | undefined;
  readonly plugin: Plugin;
}

export async function preparePlugins(
  kustomization: Kustomization,
  context: BuildContext,
): Promise<PluginStages> {
  const generators = await entriesOf('generators', kustomization, context);
  const transformers = await entriesOf('transformers', kustomization, context);
  const validators = await entriesOf('validators', kustomization, context);
  const ofGroups = [...generators, ...transformers].filter(({ plugin }) => plugin.layout === 'group');
  const patched = patchConfigs(
    ofGroups.map(({ config }) => config),
    kustomization,
    context,
  );
  const groups = gatherGroups(generators, transformers, patched.configs);
  const at = <T>(field: string, action: () => Promise<T>) =>
    withFileAndField(context.folder.file, field, action);
  return {
    kustomization: ofGroups.length === 0 ? kustomization : patched.kustomization,
    async generate(set) {
      const done = new Set<PluginGroup>();
      for (const { config, file, plugin } of generators) {
        await at('generators', async () => {
          const origin = {
            configuredIn: file ?? context.folder.configuredIn,
            configuredBy: configuredBy(config),
          };
          if (plugin.layout !== 'group') return plugin.generate(set, config, origin);
          const group = groups.get(plugin.path);
          if (group === undefined || done.has(group) || group.generators.length === 0) return;
          done.add(group);
          addGenerated(set, await group.program.generate(group, context), { origin });
        });
        context.traced?.(set, 'generators', file);
      }
    },
    async transformBeforeBuiltins(set) {
      for (const group of groups.values()) {
        await at('transformers', () => group.program.transform(group, set, context));
        context.traced?.(set, 'transformers');
      }
    },
    async transform(set) {
      for (const { config, file, plugin } of transformers) {
        if (plugin.layout === 'group') continue;
        await at('transformers', () => plugin.transform(set, config));
        context.recordTransformer(set, configuredBy(config), file);
        context.traced?.(set, 'transformers', file);
      }
    },
    async validate(set) {
      for (const { config, plugin } of validators) {
        const run = (copy: ResourceSet) =>
          plugin.layout === 'group'
            ? plugin.program.transform(groupPlugin(plugin, [], [config]), copy, context)
            : plugin.transform(copy, config);
        await at('validators', () => validateBy(plugin.title, set, run));
      }
    },
  };
}

async function entriesOf(
  role: PluginRole,
  kustomization: Kustomization,
  context: BuildContext,
): Promise<readonly Entry[]> {
  const configs = await context.loadConfigs(kustomization[role] ?? [], role);
  return withFileAndField(context.folder.file, role, async () =>
    configs.map(({ object, origin }) => ({
      config: object,
      file: origin?.path,
      plugin: pluginFor(object, role, context),
    })),
  );
}

/** By program, in the order of the kustomization. */
function gatherGroups(
  generators: readonly Entry[],
  transformers: readonly Entry[],
  patched: ReadonlyMap<JsonObject, JsonObject>,
): ReadonlyMap<string, PluginGroup> {
  const groups = new Map<string, PluginGroup>();
  const gather = (entries: readonly Entry[], role: 'generators' | 'transformers') => {
    for (const { config, plugin } of entries) {
      const object = patched.get(config);
      if (plugin.layout !== 'group' || object === undefined) continue;
      const group = groups.get(plugin.path) ?? groupPlugin(plugin, [], []);
      groups.set(plugin.path, { ...group, [role]: [...group[role], object] });
    }
  };
  gather(generators, 'generators');
  gather(transformers, 'transformers');
  return groups;
}

async function withFileAndField<T>(file: string, field: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw withLocation(error, { file, field });
  }
}

function configuredBy(config: JsonObject): JsonObject {
  const metadata = member(config, 'metadata');
  const stated = { apiVersion: member(config, 'apiVersion'), kind: member(config, 'kind') };
  const named = isObject(metadata)
    ? { name: member(metadata, 'name'), namespace: member(metadata, 'namespace') }
    : {};
  return Object.fromEntries(
    Object.entries({ ...stated, ...named }).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value]],
    ),
  );
}
