import { join } from 'node:path';
import { isObject, type JsonObject, member } from '../json/value.ts';
import { InputError } from '../problem.ts';
import type { BuildContext, BuildSession } from './build-context.ts';
import { recordTransformation } from './build-metadata.ts';
import { crdFieldSpecs } from './fields/crd-references.ts';
import { type FieldSpecs, mergeFieldSpecs, readConfiguration } from './fields/field-specs.ts';
import { schemaLookup } from './fields/openapi-schema.ts';
import { generateConfigMap, generateSecret, mergeGeneratorOptions } from './generators/data-generator.ts';
import { mergeGenerated } from './generators/merge-generated.ts';
import {
  absentEntry,
  checkRepositoryCycle,
  enterFolder,
  entryKind,
  type FolderPlace,
  openFolder,
} from './kustomization/folder.ts';
import { chartConfigs } from './kustomization/helm-charts.ts';
import type { Kustomization } from './kustomization/kustomization.ts';
import { type LoadedKustomization, loadKustomization } from './kustomization/load-kustomization.ts';
import { atLocation, KustomizeError, withLocation } from './kustomize-error.ts';
import { chartResources } from './plugins/builtin-plugins.ts';
import { type PluginStages, preparePlugins } from './plugins/stage.ts';
import { cannotFetch, repositoryPlace } from './remote/place.ts';
import { isYamlUrl, parseRepositoryUrl } from './remote/repository-url.ts';
import { parseResources } from './resource/parse-resources.ts';
import { createResource, currentId, type Origin, type Resource } from './resource/resource.ts';
import { createResourceSet, type ResourceSet } from './resource/resource-set.ts';
import { runBuiltinTransformers } from './transformers/builtin-transformers.ts';
import { joinVariables, mergeVars, type Variables } from './transformers/variables.ts';
import { readSettings } from './yaml/read.ts';

/** The resources and settings collected so far. */
export interface Accumulation {
  readonly set: ResourceSet;
  fieldSpecs: FieldSpecs;
  variables: Variables;
}

/** One kustomization and its build context. */
interface Target {
  readonly place: FolderPlace;
  readonly kustomization: Kustomization;
  readonly context: BuildContext;
  readonly session: BuildSession;
}

export function emptyAccumulation(fieldSpecs: FieldSpecs): Accumulation {
  return { set: createResourceSet(), fieldSpecs, variables: [] };
}

/** Loads the resources of a kustomization, runs its generators and then its transformers. */
export async function accumulate(
  into: Accumulation,
  place: FolderPlace,
  loaded: LoadedKustomization,
  session: BuildSession,
): Promise<void> {
  const { kustomization } = loaded;
  const context = createContext(into, place, loaded, session);
  const target: Target = { place, kustomization, context, session };
  useOwnSchema(target);
  await addResources(into, kustomization.resources ?? [], 'resources', target);
  addFieldSpecs(into, target);
  const plugins = await pluginsOf(target);
  generate(into.set, target);
  await renderCharts(into.set, target);
  await plugins?.generate(into.set);
  for (const [index, path] of (kustomization.components ?? []).entries()) {
    await addFolder(into, path, `components[${index}]`, 'Component', target);
  }
  await plugins?.transformBeforeBuiltins(into.set);
  runBuiltinTransformers(into.set, plugins?.kustomization ?? kustomization, context);
  await plugins?.transform(into.set);
  await plugins?.validate(into.set);
  into.variables = mergeVars(into.variables, kustomization.vars ?? [], into.set, context.folder.file);
}

async function pluginsOf({ kustomization, context }: Target): Promise<PluginStages | undefined> {
  const { generators = [], transformers = [], validators = [] } = kustomization;
  const hasPlugins = generators.length + transformers.length + validators.length > 0;
  return hasPlugins ? await preparePlugins(kustomization, context) : undefined;
}

async function addResources(
  into: Accumulation,
  paths: readonly string[],
  field: string,
  target: Target,
): Promise<void> {
  for (const [index, path] of paths.entries()) {
    const at = `${field}[${index}]`;
    const kind = entryKind(target.place, path);
    if (kind === 'file') addFile(into.set, path, at, target);
    else if (kind === 'absent' && isYamlUrl(path)) await addAddress(into.set, path, at, target);
    else await addFolder(into, path, at, 'Kustomization', target);
    target.context.traced?.(into.set, at, path);
  }
}

/** A file behind an https address. */
async function addAddress(set: ResourceSet, path: string, field: string, target: Target): Promise<void> {
  const { context, session } = target;
  const { file } = context.folder;
  const { readAddress } = session.options;
  if (readAddress === undefined) throw withLocation(cannotFetch(path), { file, field });
  const text = await readAddress(path).catch((error: unknown) => {
    const [problem] = error instanceof InputError ? error.problems : [];
    if (problem === undefined) throw error;
    const message = `${problem.file ?? path}: ${problem.message}`;
    throw new KustomizeError('KYM_KUSTOMIZE_REMOTE', message, { file, field, hint: problem.hint });
  });
  addTexts(set, text, path, path, field, target);
}

function addFile(set: ResourceSet, path: string, field: string, target: Target): void {
  const text = target.context.folder.readText(path, field);
  addTexts(set, text, path, join(target.place.name, path), field, target);
}

function addTexts(
  set: ResourceSet,
  text: string,
  path: string,
  file: string,
  field: string,
  { place, context, session }: Target,
): void {
  const origin = session.recordsOrigins ? originOf(place, path) : undefined;
  for (const object of parseResources(text, file)) {
    atLocation({ file, field: `${context.folder.file}: ${field}` }, () =>
      set.add(createResource(object, { origin })),
    );
  }
}

function originOf({ origin, repository }: FolderPlace, path: string): Origin {
  return { path: join(origin, path), repo: repository?.address, ref: repository?.ref };
}

async function addFolder(
  into: Accumulation,
  path: string,
  field: string,
  kind: Kustomization['kind'],
  target: Target,
): Promise<void> {
  const { context, session } = target;
  const { file } = context.folder;
  const inner = await folderAt(path, field, target);
  const loaded = loadKustomization(inner, session.options.warn);
  if (loaded.kustomization.kind !== kind) {
    throw new KustomizeError(
      'KYM_KUSTOMIZATION_INVALID',
      kind === 'Component'
        ? `${inner.name} holds a Kustomization, but components lists Components`
        : `${inner.name} holds a Component, which is listed under components`,
      { file, field },
    );
  }
  // A component changes the accumulated resources; a kustomization is built separately and added.
  if (kind === 'Component') return accumulate(into, inner, loaded, session);
  const own = emptyAccumulation(context.fieldSpecs);
  await accumulate(own, inner, loaded, session);
  for (const resource of own.set.list()) atLocation({ file, field }, () => into.set.add(resource));
  into.fieldSpecs = mergeFieldSpecs(into.fieldSpecs, own.fieldSpecs);
  into.variables = joinVariables(into.variables, own.variables);
}

/** A local folder, or a folder of a repository that is fetched. */
async function folderAt(path: string, field: string, target: Target): Promise<FolderPlace> {
  const { place, context, session } = target;
  const { file } = context.folder;
  const kind = entryKind(place, path);
  if (kind === 'folder') return enterFolder(place, path, field, file);
  const url = kind === 'absent' && !isYamlUrl(path) ? parseRepositoryUrl(path) : undefined;
  if (url === undefined) throw absentEntry(place, path, field, file);
  checkRepositoryCycle(place, path, field, file);
  try {
    return await repositoryPlace(url, place, session.repositories, place.files);
  } catch (error) {
    throw withLocation(error, { file, field });
  }
}

function useOwnSchema({ kustomization, context, session }: Target): void {
  const path = kustomization.openapi?.['path'];
  if (path === undefined) return;
  const text = context.folder.readText(path, 'openapi.path');
  session.useSchema(schemaLookup(readSettings(text, path)));
}

function addFieldSpecs(into: Accumulation, { kustomization, context }: Target): void {
  for (const [index, path] of (kustomization.configurations ?? []).entries()) {
    const text = context.folder.readText(path, `configurations[${index}]`);
    into.fieldSpecs = mergeFieldSpecs(into.fieldSpecs, readConfiguration(readSettings(text, path), path));
  }
  for (const [index, path] of (kustomization.crds ?? []).entries()) {
    const text = context.folder.readText(path, `crds[${index}]`);
    into.fieldSpecs = mergeFieldSpecs(into.fieldSpecs, crdFieldSpecs(readSettings(text, path)));
  }
}

function generate(set: ResourceSet, { kustomization, context, session }: Target): void {
  const { folder } = context;
  const add = (field: string, kind: string, make: () => Resource) =>
    atLocation({ file: folder.file, field }, () => {
      const resource = make();
      const origin = { configuredIn: folder.configuredIn, configuredBy: { apiVersion: 'builtin', kind } };
      mergeGenerated(set, session.recordsOrigins ? { ...resource, origin } : resource);
      context.traced?.(set, field);
    });
  const all = kustomization.generatorOptions;
  for (const [index, entry] of (kustomization.configMapGenerator ?? []).entries()) {
    const field = `configMapGenerator[${index}]`;
    const options = mergeGeneratorOptions(entry.options, all);
    add(field, 'ConfigMapGenerator', () => generateConfigMap({ ...entry, options }, folder, field));
  }
  for (const [index, entry] of (kustomization.secretGenerator ?? []).entries()) {
    const field = `secretGenerator[${index}]`;
    const options = mergeGeneratorOptions(entry.options, all);
    add(field, 'SecretGenerator', () => generateSecret({ ...entry, options }, folder, field));
  }
}

async function renderCharts(set: ResourceSet, { kustomization, context, session }: Target): Promise<void> {
  const { folder } = context;
  const configuredBy = { apiVersion: 'builtin', kind: 'HelmChartInflationGenerator' };
  const origin = session.recordsOrigins ? { configuredIn: folder.configuredIn, configuredBy } : undefined;
  for (const { field, config } of chartConfigs(kustomization)) {
    try {
      for (const resource of await chartResources(config, field, context)) {
        mergeGenerated(set, { ...resource, origin });
      }
    } catch (error) {
      throw withLocation(error, { file: folder.file, field });
    }
    context.traced?.(set, field);
  }
}

function createContext(
  into: Accumulation,
  place: FolderPlace,
  { kustomization, fileName }: LoadedKustomization,
  session: BuildSession,
): BuildContext {
  const folder = openFolder(place, fileName, session.options.unrestricted);
  const { trace } = session.options;
  const context: BuildContext = {
    options: session.options,
    folder,
    mergeSchema: session.mergeSchema,
    get fieldSpecs() {
      return into.fieldSpecs;
    },
    recordTransformer: (set, configuredBy, configuredIn = folder.configuredIn) => {
      if (session.recordsOrigins) recordTransformation(set, configuredIn, configuredBy);
    },
    traced:
      trace &&
      ((set, field, source) =>
        trace.after({ file: folder.file, field, source: source && join(place.name, source) }, set)),
    parseResources: (text, file) =>
      parseResources(text, file, 'null').map((object) => createResource(object)),
    loadConfigs: (entries, field) => loadConfigs(entries, field, { place, kustomization, context, session }),
  };
  return context;
}

/** Inline configs come before files and folders. Names are optional but must be unique. */
async function loadConfigs(
  entries: readonly string[],
  field: string,
  target: Target,
): Promise<readonly Resource[]> {
  const inline: Resource[] = [];
  const others: Resource[] = [];
  for (const [index, entry] of entries.entries()) {
    const texts = inlineObjects(entry, target.context.folder.file);
    if (texts === undefined) others.push(...(await configsAt(entry, `${field}[${index}]`, target)));
    else inline.push(...texts.map((object) => createResource(object)));
  }
  const configs = [...inline, ...others];
  atLocation({ file: target.context.folder.file, field }, () =>
    createResourceSet(configs.filter((config) => currentId(config).name !== '')),
  );
  return configs;
}

/** Each config has its file as origin. */
async function configsAt(path: string, field: string, target: Target): Promise<readonly Resource[]> {
  if (entryKind(target.place, path) === 'file') {
    const text = target.context.folder.readText(path, field);
    const origin = originOf(target.place, path);
    return parseResources(text, join(target.place.name, path), 'text', 'loose').map((object) =>
      createResource(object, { origin }),
    );
  }
  const own = emptyAccumulation(target.context.fieldSpecs);
  // The stages of configs are not stages of the build.
  const session = { ...target.session, options: { ...target.session.options, trace: undefined } };
  await addFolder(own, path, field, 'Kustomization', { ...target, session });
  return own.set.list();
}

function inlineObjects(entry: string, file: string): readonly JsonObject[] | undefined {
  if (!/[\n:{]/.test(entry)) return undefined;
  try {
    return parseResources(entry, file, 'text', 'loose');
  } catch (error) {
    if (entry.includes('\n')) throw withLocation(error, { file });
    return undefined;
  }
}

/** Whether a resource is used only during the build: the annotation has any value except "false". */
export function isLocal(object: JsonObject): boolean {
  const metadata = member(object, 'metadata');
  const annotations = isObject(metadata) ? member(metadata, 'annotations') : undefined;
  const value = isObject(annotations) ? member(annotations, 'config.kubernetes.io/local-config') : undefined;
  return value !== undefined && value !== 'false';
}
