import { basename } from 'node:path';
import { isObject, type JsonObject, member } from '../../json/value.ts';
import type { BuildContext } from '../build-context.ts';
import { generateConfigMap, generateSecret } from '../generators/data-generator.ts';
import { addNameHashes } from '../generators/name-hash.ts';
import { decode, type Shape } from '../kustomization/decode.ts';
import type {
  FieldSpec,
  ImageEntry,
  PatchEntry,
  ReplacementEntry,
  ReplicaEntry,
  SecretEntry,
  StringMap,
} from '../kustomization/kustomization.ts';
import {
  fieldSpecShape,
  imageShape,
  patchShape,
  replacementShape,
  replicaShape,
  secretShape,
  selectorShape,
} from '../kustomization/kustomization-shape.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { applyJson6902Patches, applyPatch, applyStrategicMergePatches } from '../patches/stage.ts';
import { createResource, type Resource } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';
import { changeImages } from '../transformers/image-transformer.ts';
import { setPairs } from '../transformers/label-transformer.ts';
import { addPrefix, addSuffix } from '../transformers/name-transformer.ts';
import { type SubjectMode, setNamespace } from '../transformers/namespace-transformer.ts';
import { applyReplacements } from '../transformers/replacement-stage.ts';
import { setReplicas } from '../transformers/replica-transformer.ts';
import { addValue, type ValueTarget } from '../transformers/value-add.ts';
import { readSettings } from '../yaml/read.ts';

export type BuiltinTransformer = (set: ResourceSet, config: JsonObject, context: BuildContext) => void;
export type BuiltinGenerator = (
  config: JsonObject,
  context: BuildContext,
) => readonly Resource[] | Promise<readonly Resource[]>;

const configShape: Shape = {
  fields: {
    metadata: 'any',
    prefix: 'text',
    suffix: 'text',
    labels: { map: 'text' },
    annotations: { map: 'text' },
    imageTag: imageShape,
    replica: replicaShape,
    unsetOnly: 'boolean',
    setRoleBindingSubjects: 'text',
    fieldSpecs: { list: fieldSpecShape },
  },
};

interface Config {
  readonly prefix?: string | undefined;
  readonly suffix?: string | undefined;
  readonly labels?: StringMap | undefined;
  readonly annotations?: StringMap | undefined;
  readonly imageTag?: ImageEntry | undefined;
  readonly replica?: ReplicaEntry | undefined;
  readonly unsetOnly?: boolean | undefined;
  readonly setRoleBindingSubjects?: string | undefined;
  readonly fieldSpecs?: readonly FieldSpec[] | undefined;
  readonly metadata?: JsonObject | undefined;
}

/** Decodes a config like kustomize: unknown fields are ignored. */
function transformer(run: (set: ResourceSet, config: Config, specs: readonly FieldSpec[]) => void) {
  return (set: ResourceSet, config: JsonObject, context: BuildContext): void => {
    const options = { file: context.folder.file, lenient: true };
    const read = (decode(config, configShape, '', options) ?? {}) as Config;
    run(set, read, read.fieldSpecs ?? []);
  };
}

/** The built-in transformers, by the kind that configs of `apiVersion: builtin` state. */
export const builtinTransformers: ReadonlyMap<string, BuiltinTransformer> = new Map<
  string,
  BuiltinTransformer
>([
  [
    'PrefixTransformer',
    transformer((set, { prefix = '', fieldSpecs }) => addPrefix(set, prefix, required(fieldSpecs))),
  ],
  [
    'SuffixTransformer',
    transformer((set, { suffix = '', fieldSpecs }) => addSuffix(set, suffix, required(fieldSpecs))),
  ],
  [
    'NamespaceTransformer',
    transformer((set, { metadata, unsetOnly, setRoleBindingSubjects }, specs) => {
      const namespace = isObject(metadata) ? member(metadata, 'namespace') : undefined;
      if (typeof namespace !== 'string' || namespace === '') return;
      const subjects = subjectMode(setRoleBindingSubjects);
      setNamespace(set, { namespace, specs, subjects, unsetOnly: unsetOnly === true });
    }),
  ],
  ['LabelTransformer', transformer((set, { labels = {} }, specs) => setPairs(set, labels, specs))],
  [
    'AnnotationsTransformer',
    transformer((set, { annotations = {} }, specs) => setPairs(set, annotations, specs)),
  ],
  ['ImageTagTransformer', transformer((set, { imageTag = {} }, specs) => changeImages(set, imageTag, specs))],
  [
    'ReplicaCountTransformer',
    transformer((set, { replica = {} }, specs) => setReplicas(set, replica, specs)),
  ],
  ['HashTransformer', addNameHashes],
  [
    'PatchTransformer',
    (set, config, context) =>
      applyPatch(set, read<PatchEntry>(config, patchShape, context), 'PatchTransformer', context),
  ],
  [
    'PatchStrategicMergeTransformer',
    (set, config, context) => {
      const shape: Shape = { fields: { paths: { list: 'text' }, patches: 'text' } };
      const { paths = [], patches = '' } = read<{
        paths?: readonly string[] | undefined;
        patches?: string | undefined;
      }>(config, shape, context);
      if (paths.length === 0 && patches === '') {
        throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', 'neither paths nor patches is set', {
          file: context.folder.file,
          field: 'PatchStrategicMergeTransformer',
        });
      }
      applyStrategicMergePatches(set, patches === '' ? paths : [...paths, `${patches}\n`], context);
    },
  ],
  [
    'PatchJson6902Transformer',
    (set, config, context) => {
      const { jsonOp, ...entry } = read<PatchEntry & { jsonOp?: string | undefined }>(
        config,
        jsonShape,
        context,
      );
      applyJson6902Patches(set, [jsonOp === undefined ? entry : { ...entry, patch: jsonOp }], context);
    },
  ],
  ['ValueAddTransformer', runValueAdd],
  [
    'ReplacementTransformer',
    (set, config, context) => {
      const shape: Shape = { fields: { replacements: { list: replacementShape } } };
      const { replacements = [] } = read<{ replacements?: readonly ReplacementEntry[] | undefined }>(
        config,
        shape,
        context,
      );
      applyReplacements(set, replacements, context);
    },
  ],
]);

const valueTargetsShape: Shape = {
  list: { fields: { selector: selectorShape, fieldPath: 'text', filePathPosition: 'integer' } },
};

interface ValueAddConfig {
  readonly value?: string | undefined;
  readonly targets?: readonly ValueTarget[] | undefined;
  readonly targetFilePath?: string | undefined;
}

function runValueAdd(set: ResourceSet, config: JsonObject, context: BuildContext): void {
  const { folder } = context;
  const fields = { value: 'text', targets: valueTargetsShape, targetFilePath: 'text' } as const;
  const { value = '', targets = [], targetFilePath } = read<ValueAddConfig>(config, { fields }, context);
  const shared = targetFilePath === undefined ? [] : valueTargets(targetFilePath, context);
  const all = [...targets, ...shared];
  const fail = (message: string) =>
    new KustomizeError('KYM_KUSTOMIZATION_INVALID', message, { field: 'ValueAddTransformer.targets' });
  if (all.length === 0) throw fail('there is no target');
  for (const { fieldPath = '', filePathPosition = 0 } of all) {
    if (fieldPath === '') throw fail('a target has no fieldPath');
    if (filePathPosition < 0) throw fail(`the filePathPosition ${filePathPosition} is negative`);
  }
  addValue(set, value.trim() || basename(folder.root), all, { file: folder.file });
}

function valueTargets(path: string, { folder }: BuildContext): readonly ValueTarget[] {
  const text = folder.readText(path, 'ValueAddTransformer.targetFilePath');
  const shape: Shape = { fields: { targets: valueTargetsShape } };
  const read = decode(readSettings(text, path), shape, '', { file: path, lenient: true });
  return ((read ?? {}) as ValueAddConfig).targets ?? [];
}

function required(specs: readonly FieldSpec[] | undefined): readonly FieldSpec[] {
  if (specs !== undefined) return specs;
  throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', 'the config of the transformer has no fieldSpecs', {
    field: 'fieldSpecs',
  });
}

const subjectModes: readonly string[] = ['defaultOnly', 'allServiceAccounts', 'none'];

function subjectMode(text: string | undefined): SubjectMode {
  if (text === undefined || text === '') return 'defaultOnly';
  if (subjectModes.includes(text)) return text as SubjectMode;
  throw new KustomizeError(
    'KYM_KUSTOMIZATION_INVALID',
    `"${text}" is not one of ${subjectModes.join(', ')}`,
    {
      field: 'setRoleBindingSubjects',
    },
  );
}

/** The built-in generators. Their configs have the fields of the kustomization entries. */
export const builtinGenerators: ReadonlyMap<string, BuiltinGenerator> = new Map<string, BuiltinGenerator>([
  [
    'ConfigMapGenerator',
    (config, context) => [generateConfigMap(generatorEntry(config, context), context.folder, '')],
  ],
  [
    'SecretGenerator',
    (config, context) => [generateSecret(generatorEntry(config, context), context.folder, '')],
  ],
  ['HelmChartInflationGenerator', (config, context) => chartResources(config, '', context)],
]);

/** The resources of a chart, whose config has the fields of `helmCharts` and `helmGlobals`. */
export async function chartResources(
  config: JsonObject,
  field: string,
  context: BuildContext,
): Promise<readonly Resource[]> {
  const { programs } = context.options;
  if (programs === undefined) {
    throw new KustomizeError('KYM_PLUGIN_DISABLED', 'charts are rendered by helm, which cannot run here', {
      hint: 'Add the output of helm template as a resource, or build it with kymera build --enable-helm.',
    });
  }
  const objects = await programs.renderChart(config, field, context);
  return objects.map((object) => createResource(object, { fromChart: true }));
}

function generatorEntry(config: JsonObject, context: BuildContext): SecretEntry {
  const options = { file: context.folder.file, lenient: true };
  const entry = (decode(config, secretShape, '', options) ?? {}) as SecretEntry;
  const metadata = member(config, 'metadata');
  const text = (field: string) => (isObject(metadata) ? String(member(metadata, field) ?? '') : '');
  return { ...entry, name: entry.name ?? text('name'), namespace: entry.namespace ?? text('namespace') };
}

const jsonShape: Shape = {
  fields: {
    path: 'text',
    jsonOp: 'text',
    target: (patchShape as Extract<Shape, { fields: unknown }>).fields['target'] as Shape,
  },
};

/** Decodes a config. Unknown fields such as apiVersion, kind and metadata are ignored. */
function read<T>(config: JsonObject, shape: Shape, context: BuildContext): T {
  const name = String(member(config, 'kind') ?? '');
  return (decode(config, shape, name, { file: context.folder.file, lenient: true }) ?? {}) as T;
}
