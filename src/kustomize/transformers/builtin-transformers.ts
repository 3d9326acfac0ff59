import type { BuildContext } from '../build-context.ts';
import type { Kustomization } from '../kustomization/kustomization.ts';
import { atLocation } from '../kustomize-error.ts';
import { applyJson6902Patches, applyPatches, applyStrategicMergePatches } from '../patches/stage.ts';
import type { ResourceSet } from '../resource/resource-set.ts';
import { changeImages } from './image-transformer.ts';
import { labelSpecs, setPairs } from './label-transformer.ts';
import { addPrefix, addSuffix } from './name-transformer.ts';
import { setNamespace } from './namespace-transformer.ts';
import { applyReplacements } from './replacement-stage.ts';
import { setReplicas } from './replica-transformer.ts';

interface Step {
  /** The name of the transformer in kustomize. */
  readonly kind: string;
  readonly field: string;
  /** How many transformers of this kind the field creates. */
  readonly count: number;
  run(): void;
}

/** Runs the built-in transformers of a kustomization in the order of kustomize. */
export function runBuiltinTransformers(
  set: ResourceSet,
  kustomization: Kustomization,
  context: BuildContext,
): void {
  for (const step of stepsOf(set, kustomization, context)) {
    if (step.count === 0) continue;
    atLocation({ file: context.folder.file, field: step.field }, () => step.run());
    for (let index = 0; index < step.count; index++) {
      context.recordTransformer(set, { apiVersion: 'builtin', kind: step.kind });
    }
  }
}

function stepsOf(set: ResourceSet, kustomization: Kustomization, context: BuildContext): readonly Step[] {
  const { fieldSpecs } = context;
  const {
    patchesStrategicMerge = [],
    patches = [],
    namespace = '',
    namePrefix = '',
    nameSuffix = '',
    labels = [],
    commonLabels = {},
    commonAnnotations = {},
    patchesJson6902 = [],
    replicas = [],
    images = [],
    replacements = [],
  } = kustomization;
  const labelCount = labels.length + Object.keys(commonLabels).length > 0 ? labels.length + 1 : 0;
  const one = (isUsed: boolean) => (isUsed ? 1 : 0);
  return [
    {
      kind: 'PatchStrategicMergeTransformer',
      field: 'patchesStrategicMerge',
      count: one(patchesStrategicMerge.length > 0),
      run: () => applyStrategicMergePatches(set, patchesStrategicMerge, context),
    },
    {
      kind: 'PatchTransformer',
      field: 'patches',
      count: patches.length,
      run: () => applyPatches(set, patches, context),
    },
    {
      kind: 'NamespaceTransformer',
      field: 'namespace',
      count: one(namespace !== ''),
      run: () => {
        setNamespace(set, { namespace, specs: fieldSpecs.namespace });
        context.traced?.(set, 'namespace');
      },
    },
    {
      kind: 'PrefixTransformer',
      field: 'namePrefix',
      count: one(namePrefix !== ''),
      run: () => {
        addPrefix(set, namePrefix, fieldSpecs.namePrefix);
        context.traced?.(set, 'namePrefix');
      },
    },
    {
      kind: 'SuffixTransformer',
      field: 'nameSuffix',
      count: one(nameSuffix !== ''),
      run: () => {
        addSuffix(set, nameSuffix, fieldSpecs.nameSuffix);
        context.traced?.(set, 'nameSuffix');
      },
    },
    {
      kind: 'LabelTransformer',
      field: labels.length > 0 ? 'labels' : 'commonLabels',
      count: labelCount,
      run: () => {
        for (const [index, entry] of labels.entries()) {
          setPairs(set, entry.pairs ?? {}, labelSpecs(entry, fieldSpecs));
          context.traced?.(set, `labels[${index}]`);
        }
        setPairs(set, commonLabels, fieldSpecs.commonLabels);
        if (Object.keys(commonLabels).length > 0) context.traced?.(set, 'commonLabels');
      },
    },
    {
      kind: 'AnnotationsTransformer',
      field: 'commonAnnotations',
      count: one(Object.keys(commonAnnotations).length > 0),
      run: () => {
        setPairs(set, commonAnnotations, fieldSpecs.commonAnnotations);
        context.traced?.(set, 'commonAnnotations');
      },
    },
    {
      kind: 'PatchJson6902Transformer',
      field: 'patchesJson6902',
      count: patchesJson6902.length,
      run: () => applyJson6902Patches(set, patchesJson6902, context),
    },
    {
      kind: 'ReplicaCountTransformer',
      field: 'replicas',
      count: replicas.length,
      run: () => {
        for (const [index, entry] of replicas.entries()) {
          setReplicas(set, entry, fieldSpecs.replicas);
          context.traced?.(set, `replicas[${index}]`);
        }
      },
    },
    {
      kind: 'ImageTagTransformer',
      field: 'images',
      count: images.length,
      run: () => {
        for (const [index, entry] of images.entries()) {
          changeImages(set, entry, fieldSpecs.images);
          context.traced?.(set, `images[${index}]`);
        }
      },
    },
    {
      kind: 'ReplacementTransformer',
      field: 'replacements',
      count: one(replacements.length > 0),
      run: () => applyReplacements(set, replacements, context),
    },
  ];
}
