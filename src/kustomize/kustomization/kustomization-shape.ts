import type { Shape } from './decode.ts';

const texts: Shape = { list: 'text' };
const textMap: Shape = { map: 'text' };

const idFields = { group: 'text', version: 'text', kind: 'text', name: 'text', namespace: 'text' } as const;

/** Selectors of replacements and of patches. */
export const selectorShape: Shape = {
  fields: { ...idFields, labelSelector: 'selector', annotationSelector: 'selector' },
  aliases: { matchAnnotations: 'annotationSelector' },
};

const replacementOptions: Shape = {
  fields: { delimiter: 'text', index: 'integer', create: 'boolean', encoding: 'text' },
};

export const replacementShape: Shape = {
  fields: {
    path: 'text',
    source: { fields: { ...idFields, fieldPath: 'text', options: replacementOptions } },
    sourceValue: 'text',
    targets: {
      list: {
        fields: {
          // The reference also prints `select` as a list.
          select: { oneOf: selectorShape },
          reject: { list: selectorShape },
          fieldPaths: texts,
          options: replacementOptions,
        },
      },
    },
  },
};

export const patchShape: Shape = {
  fields: {
    path: 'text',
    patch: 'text',
    target: selectorShape,
    options: { fields: { allowNameChange: 'boolean', allowKindChange: 'boolean' } },
    type: 'text',
  },
  aliases: { file: 'path' },
};

export const fieldSpecShape: Shape = {
  fields: { group: 'text', version: 'text', kind: 'text', path: 'text', create: 'boolean' },
};

export const labelShape: Shape = {
  fields: {
    pairs: textMap,
    includeSelectors: 'boolean',
    includeTemplates: 'boolean',
    fields: { list: fieldSpecShape },
  },
};

export const imageShape: Shape = {
  fields: { name: 'text', newName: 'text', newTag: 'text', tagSuffix: 'text', digest: 'text' },
};

export const replicaShape: Shape = { fields: { name: 'text', count: 'integer' } };

export const generatorOptionsShape: Shape = {
  fields: {
    labels: textMap,
    annotations: textMap,
    disableNameSuffixHash: 'boolean',
    immutable: 'boolean',
  },
};

const generatorFields = {
  name: 'text',
  namespace: 'text',
  behavior: 'text',
  literals: texts,
  files: texts,
  envs: texts,
  env: 'text',
  options: generatorOptionsShape,
} as const;

export const configMapShape: Shape = { fields: generatorFields };
export const secretShape: Shape = { fields: { ...generatorFields, type: 'text' } };

const varShape: Shape = {
  fields: {
    name: 'text',
    objref: { fields: { apiVersion: 'text', ...idFields } },
    fieldref: { fields: { fieldpath: 'text' } },
  },
};

export const sortOptionsShape: Shape = {
  fields: {
    order: 'text',
    legacySortOptions: { fields: { orderFirst: texts, orderLast: texts } },
  },
};

export const kustomizationShape: Shape = {
  fields: {
    apiVersion: 'text',
    kind: 'text',
    metadata: { fields: { name: 'text', namespace: 'text', labels: textMap, annotations: textMap } },
    openapi: textMap,
    namePrefix: 'text',
    nameSuffix: 'text',
    namespace: 'text',
    commonLabels: textMap,
    labels: { list: labelShape },
    commonAnnotations: textMap,
    patchesStrategicMerge: texts,
    patchesJson6902: { list: patchShape },
    patches: { list: patchShape },
    images: { list: imageShape },
    imageTags: { list: imageShape },
    replacements: { list: replacementShape },
    replicas: { list: replicaShape },
    vars: { list: varShape },
    sortOptions: sortOptionsShape,
    resources: texts,
    components: texts,
    crds: texts,
    bases: texts,
    configMapGenerator: { list: configMapShape },
    secretGenerator: { list: secretShape },
    helmGlobals: 'any',
    helmCharts: { list: 'any' },
    helmChartInflationGenerator: { list: 'any' },
    generatorOptions: generatorOptionsShape,
    configurations: texts,
    generators: texts,
    transformers: texts,
    validators: texts,
    buildMetadata: texts,
  },
};
