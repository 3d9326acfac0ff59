import { nameOf } from '../../json/metadata.ts';
import { type JsonObject, member } from '../../json/value.ts';
import type { BuildContext } from '../build-context.ts';
import { defaultPluginLimits } from '../build-context.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { parseResources } from '../resource/parse-resources.ts';
import { createResource, currentId, describeId, idKey, idOf, type ResourceId } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';
import { printYaml } from '../yaml/print.ts';
import { pluginName } from './plugin-name.ts';
import { type PluginResult, pluginFailed, runPlugin } from './process.ts';

/** The configs of one API group. One program handles them: `<program> generate` and `<program> transform`. */
export interface PluginGroup {
  readonly group: string;
  readonly path: string;
  readonly generators: readonly JsonObject[];
  readonly transformers: readonly JsonObject[];
  readonly program: GroupProgram;
}

/** Runs the program of a group. */
export interface GroupProgram {
  /** One run for all generator configs. */
  generate(group: PluginGroup, context: BuildContext): Promise<readonly JsonObject[]>;
  /**
   * One run for all configs. Generators are included and may report that they do not transform. A transformer must
   * not add, remove, rename or move resources; only a config with `generate` that is listed as a transformer may add some.
   */
  transform(group: PluginGroup, set: ResourceSet, context: BuildContext): Promise<void>;
}

export const groupProgram: GroupProgram = { generate: generateByGroup, transform: transformByGroup };

/** Exit code of a program that does not support the subcommand. */
const unsupported = 127;

async function generateByGroup(group: PluginGroup, context: BuildContext): Promise<readonly JsonObject[]> {
  const result = await run(group, 'generate', group.generators.map(printYaml), context);
  if (result.exitCode !== 0) throw failed(group, 'generate', result);
  return nonVirtual(result.output, group);
}

async function transformByGroup(group: PluginGroup, set: ResourceSet, context: BuildContext): Promise<void> {
  const configs = [...group.generators, ...group.transformers].map(printYaml);
  const resources = set.list().map((resource) => printYaml(resource.object));
  const result = await run(group, 'transform', [...configs, ...resources], context);
  if (result.exitCode === unsupported && group.transformers.length === 0) return;
  if (result.exitCode !== 0) throw failed(group, 'transform', result);
  const mayAdd = group.transformers.some((config) => Object.hasOwn(config, 'generate'));
  applyOutput(set, nonVirtual(result.output, group), group, mayAdd);
}

function applyOutput(
  set: ResourceSet,
  objects: readonly JsonObject[],
  group: PluginGroup,
  mayAdd: boolean,
): void {
  const printed = new Map<string, JsonObject>();
  for (const object of objects) {
    const id = idOf(object);
    if (printed.has(idKey(id))) {
      throw new KustomizeError(
        'KYM_PLUGIN_OUTPUT',
        `${titleOf(group)} printed a duplicate resource: ${describeId(id)}`,
      );
    }
    printed.set(idKey(id), object);
  }
  const known = new Set(set.list().map((resource) => idKey(currentId(resource))));
  const removed = set.list().filter((resource) => !printed.has(idKey(currentId(resource))));
  const added = [...printed].filter(([key]) => !known.has(key)).map(([, object]) => object);
  if (removed.length > 0 || (added.length > 0 && !mayAdd)) {
    throw changed(group, removed.map(currentId), mayAdd ? [] : added.map(idOf));
  }
  for (const resource of set.list()) {
    const object = printed.get(idKey(currentId(resource)));
    if (object !== undefined) set.update(resource, object);
  }
  for (const object of added) set.add(createResource(object));
}

function changed(
  group: PluginGroup,
  removed: readonly ResourceId[],
  added: readonly ResourceId[],
): KustomizeError {
  const parts = [
    ...(removed.length === 0 ? [] : [`removed ${removed.map(describeId).join(', ')}`]),
    ...(added.length === 0 ? [] : [`added ${added.map(describeId).join(', ')}`]),
  ];
  return new KustomizeError(
    'KYM_PLUGIN_CHANGED',
    `${titleOf(group)} transform ${parts.join(' and ')}; transformers of this layout may not add, remove, rename or move resources`,
  );
}

/** Removes configs from the output: a program may print its whole input. */
function nonVirtual(output: string, group: PluginGroup): readonly JsonObject[] {
  const virtual = new Set([...group.generators, ...group.transformers].map(virtualKey));
  try {
    const objects = parseResources(output, titleOf(group), 'text', 'loose').filter(
      (object) => !virtual.has(virtualKey(object)),
    );
    for (const object of objects) checkIdentityOf(object);
    return objects;
  } catch (error) {
    if (!(error instanceof KustomizeError)) throw error;
    throw new KustomizeError(
      'KYM_PLUGIN_OUTPUT',
      `${titleOf(group)} printed an invalid resource: ${error.message}`,
    );
  }
}

function virtualKey(config: JsonObject): string {
  const { group, version, kind } = pluginName(config);
  return JSON.stringify([group, version, kind, nameOf(config)]);
}

function checkIdentityOf(object: JsonObject): void {
  if (typeof member(object, 'kind') === 'string' && nameOf(object) !== '') return;
  throw new KustomizeError('KYM_PLUGIN_OUTPUT', 'a document has no kind or no metadata.name');
}

async function run(
  group: PluginGroup,
  subcommand: 'generate' | 'transform',
  documents: readonly string[],
  { folder, options }: BuildContext,
): Promise<PluginResult> {
  const command = {
    title: titleOf(group),
    path: group.path,
    args: [subcommand],
    folder: folder.root,
    environment: options.environment,
    input: documents.join('---\n'),
    show: options.show,
  };
  return runPlugin(command, options.pluginLimits ?? defaultPluginLimits);
}

function failed(
  group: PluginGroup,
  subcommand: string,
  { exitCode, messages }: PluginResult,
): KustomizeError {
  const what =
    exitCode === unsupported
      ? `does not support '${subcommand}' (exit code 127)`
      : `exited with code ${exitCode}`;
  return pluginFailed(`${titleOf(group)} ${subcommand}`, what, messages);
}

function titleOf(group: PluginGroup): string {
  return `the plugin ${group.path}`;
}
