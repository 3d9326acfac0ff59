import { isObject, type JsonObject, member } from '../../json/value.ts';
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
import type { PluginGroup } from './by-group.ts';
import { generateByKind, titleOf, transformByKind } from './by-kind.ts';
import {
  type FunctionSpec,
  functionSpec,
  functionTitle,
  generateByFunction,
  transformByFunction,
} from './krm-function.ts';
import { findPlugin, type PluginRole, pluginName } from './lookup.ts';
import { addGenerated, replaceById } from './result.ts';

/** A plugin for a config, ready to run. */
export type Plugin =
  | { readonly layout: 'group'; readonly title: string; readonly path: string; readonly group: string }
  | {
      readonly layout: 'own';
      readonly title: string;
      generate(set: ResourceSet, config: JsonObject, origin: Origin): Promise<void>;
      transform(set: ResourceSet, config: JsonObject): Promise<void>;
    };

type OwnPlugin = Extract<Plugin, { layout: 'own' }>;

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
  if (!context.options.enablePlugins) {
    throw new KustomizeError(
      'KYM_PLUGIN_DISABLED',
      `${name.kind} of '${name.group}' is a plugin, and plugins are disabled`,
      { hint: 'Plugins run programs. If you trust them, use --enable-plugins.' },
    );
  }
  const spec = functionSpec(config);
  if (spec !== undefined) return functionPlugin(spec, config, context);
  const found = findPlugin(name, role, context.options.environment);
  if (found.layout === 'group') return { ...found, title: titleOf(found.path), group: name.group };
  requireName(config, name.kind);
  return {
    layout: 'own',
    title: titleOf(found.path),
    async generate(set, settings, origin) {
      addGenerated(set, await generateByKind(found.path, settings, context), { origin });
    },
    async transform(set, settings) {
      replaceById(set, await transformByKind(found.path, settings, set, context), titleOf(found.path));
    },
  };
}

export function groupPlugin(
  { group, path }: Extract<Plugin, { layout: 'group' }>,
  generators: readonly JsonObject[],
  transformers: readonly JsonObject[],
): PluginGroup {
  return { group, path, generators, transformers };
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
      transformer(set, config, context);
    },
  };
}

function functionPlugin(spec: FunctionSpec, config: JsonObject, context: BuildContext): OwnPlugin {
  requireName(config, 'a function');
  const title = functionTitle(spec);
  if (!context.options.enableExec) {
    context.options.warn(`${title} is skipped, as in kustomize; use --enable-exec to run functions`);
    return { layout: 'own', title, generate: async () => {}, transform: async () => {} };
  }
  return {
    layout: 'own',
    title,
    async generate(set, settings, origin) {
      addGenerated(set, await generateByFunction(spec, settings, context), { origin });
    },
    async transform(set, settings) {
      replaceById(set, await transformByFunction(spec, settings, set, context), title);
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

function requireName(config: JsonObject, kind: string): void {
  const metadata = member(config, 'metadata');
  const name = isObject(metadata) ? member(metadata, 'name') : undefined;
  if (typeof name === 'string' && name !== '') return;
  throw new KustomizeError('KYM_KUSTOMIZE_RESOURCE', `the config of ${kind} has no metadata.name`);
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
