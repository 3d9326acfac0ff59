import { isObject, type JsonObject, member } from '../../json/value.ts';
import type { BuildContext } from '../build-context.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { groupProgram } from './by-group.ts';
import { generateByKind, titleOf, transformByKind } from './by-kind.ts';
import {
  type FunctionSpec,
  functionSpec,
  functionTitle,
  generateByFunction,
  transformByFunction,
} from './krm-function.ts';
import { findPlugin } from './lookup.ts';
import { type PluginRole, pluginName } from './plugin-name.ts';
import { addGenerated, replaceById } from './result.ts';
import type { OwnPlugin, Plugin } from './runner.ts';

/** The function that a config names, then a program for its kind, then one for its group. */
export function externalPlugin(config: JsonObject, role: PluginRole, context: BuildContext): Plugin {
  const name = pluginName(config);
  const spec = functionSpec(config);
  if (spec !== undefined) return functionPlugin(spec, config, context);
  const found = findPlugin(name, role, context.options.environment);
  if (found.layout === 'group')
    return { ...found, title: titleOf(found.path), group: name.group, program: groupProgram };
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

function requireName(config: JsonObject, kind: string): void {
  const metadata = member(config, 'metadata');
  const name = isObject(metadata) ? member(metadata, 'name') : undefined;
  if (typeof name === 'string' && name !== '') return;
  throw new KustomizeError('KYM_KUSTOMIZE_RESOURCE', `the config of ${kind} has no metadata.name`);
}
