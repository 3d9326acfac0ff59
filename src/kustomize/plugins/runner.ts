import { type JsonObject, member } from '../../json/value.ts';
import type { BuildContext } from '../build-context.ts';
import { mergeGenerated } from '../generators/merge-generated.ts';
import { KustomizeError } from '../kustomize-error.ts';
import type { Origin } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';
import {
  type BuiltinGenerator,
  type BuiltinTransformer,
  builtinGenerators,
  builtinTransformers,
} from './builtin-plugins.ts';
import type { GroupProgram, PluginGroup } from './by-group.ts';
import { type PluginRole, pluginName } from './plugin-name.ts';

/** A plugin for a config, ready to run. */
export type Plugin =
  | {
      readonly layout: 'group';
      readonly title: string;
      readonly path: string;
      readonly group: string;
      readonly program: GroupProgram;
    }
  | {
      readonly layout: 'own';
      readonly title: string;
      generate(set: ResourceSet, config: JsonObject, origin: Origin): Promise<void>;
      transform(set: ResourceSet, config: JsonObject): Promise<void>;
    };

export type OwnPlugin = Extract<Plugin, { layout: 'own' }>;

/**
 * Finds the plugin: a built-in one or a policy, then the function that the config names, then a program for its kind, then one
 * for its group. Functions and programs must be enabled.
 */
export function pluginFor(config: JsonObject, role: PluginRole, context: BuildContext): Plugin {
  const name = pluginName(config);
  if (name.group === '' && name.version === 'builtin') return builtinPlugin(name.kind, context);
  if (role !== 'generators' && isPolicyConfig(config) && context.options.policies !== undefined) {
    return policyPlugin(context);
  }
  const { programs, enablePlugins } = context.options;
  if (programs === undefined) {
    throw new KustomizeError(
      'KYM_PLUGIN_DISABLED',
      `${name.kind} of '${name.group}' is a plugin, and no program can run here`,
      { hint: 'If you trust it, build with kymera build --enable-plugins.' },
    );
  }
  if (!enablePlugins) {
    throw new KustomizeError(
      'KYM_PLUGIN_DISABLED',
      `${name.kind} of '${name.group}' is a plugin, and plugins are disabled`,
      { hint: 'Plugins run programs. If you trust them, use --enable-plugins.' },
    );
  }
  return programs.pluginFor(config, role, context);
}

export function groupPlugin(
  { group, path, program }: Extract<Plugin, { layout: 'group' }>,
  generators: readonly JsonObject[],
  transformers: readonly JsonObject[],
): PluginGroup {
  return { group, path, program, generators, transformers };
}

function builtinPlugin(kind: string, context: BuildContext): OwnPlugin {
  const generator: BuiltinGenerator | undefined = builtinGenerators.get(kind);
  const transformer: BuiltinTransformer | undefined = builtinTransformers.get(kind);
  if (generator === undefined && transformer === undefined) {
    throw new KustomizeError('KYM_PLUGIN_NOT_FOUND', `unknown built-in plugin ${kind}`, {
      hint: `Known: ${[...builtinGenerators.keys(), ...builtinTransformers.keys()].join(', ')}.`,
    });
  }
  const wrongField = (field: string) =>
    new KustomizeError(
      'KYM_KUSTOMIZATION_INVALID',
      `the built-in plugin ${kind} cannot be used under ${field}`,
    );
  return {
    layout: 'own',
    title: `the built-in plugin ${kind}`,
    async generate(set, config, origin) {
      if (generator === undefined) throw wrongField('generators');
      for (const resource of await generator(config, context)) mergeGenerated(set, { ...resource, origin });
    },
    async transform(set, config) {
      if (transformer === undefined) throw wrongField('transformers');
      // The caller reports the stage.
      transformer(set, config, { ...context, traced: undefined });
    },
  };
}

function policyPlugin(context: BuildContext): OwnPlugin {
  const { policies } = context.options;
  return {
    layout: 'own',
    title: 'the policy',
    generate: async () => {},
    async transform(set, config) {
      const resources = set.list();
      const { file, root } = context.folder;
      const objects = await policies?.run(
        [config],
        resources.map(({ object }) => object),
        { file, root, readText: (path, field) => context.folder.readText(path, field) },
      );
      for (const [index, resource] of resources.entries()) {
        const object = objects?.[index];
        if (object !== undefined && object !== resource.object) set.update(resource, object);
      }
    },
  };
}

const policyGroups = new Set([
  'kyverno.io',
  'kymera.io',
  'policies.kyverno.io',
  'admissionregistration.k8s.io',
]);
const policyKinds = new Set([
  'ClusterPolicy',
  'Policy',
  'MutatingPolicy',
  'NamespacedMutatingPolicy',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'PolicyTransformer',
]);

/** Whether a config under `transformers` is a policy or names policy files. Policies need no plugin. */
export function isPolicyConfig(config: JsonObject): boolean {
  const apiVersion = member(config, 'apiVersion');
  const kind = member(config, 'kind');
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return false;
  return policyGroups.has(apiVersion.split('/')[0] ?? '') && policyKinds.has(kind);
}
