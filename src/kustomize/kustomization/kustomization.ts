import type { JsonObject } from '../../json/value.ts';

/** A kustomization with checked and normalized fields. Null counts as undefined. */
export interface Kustomization {
  readonly kind: 'Kustomization' | 'Component';
  readonly openapi?: Readonly<Record<string, string>> | undefined;
  readonly namePrefix?: string | undefined;
  readonly nameSuffix?: string | undefined;
  readonly namespace?: string | undefined;
  readonly commonLabels?: StringMap | undefined;
  readonly labels?: readonly LabelEntry[] | undefined;
  readonly commonAnnotations?: StringMap | undefined;
  /** Files or inline YAML. */
  readonly patchesStrategicMerge?: readonly string[] | undefined;
  readonly patchesJson6902?: readonly PatchEntry[] | undefined;
  readonly patches?: readonly PatchEntry[] | undefined;
  readonly images?: readonly ImageEntry[] | undefined;
  readonly replacements?: readonly ReplacementEntry[] | undefined;
  readonly replicas?: readonly ReplicaEntry[] | undefined;
  readonly vars?: readonly VarEntry[] | undefined;
  readonly sortOptions?: SortOptions | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly components?: readonly string[] | undefined;
  readonly crds?: readonly string[] | undefined;
  readonly configMapGenerator?: readonly ConfigMapEntry[] | undefined;
  readonly secretGenerator?: readonly SecretEntry[] | undefined;
  readonly helmGlobals?: JsonObject | undefined;
  readonly helmCharts?: readonly JsonObject[] | undefined;
  readonly helmChartInflationGenerator?: readonly JsonObject[] | undefined;
  readonly generatorOptions?: GeneratorOptions | undefined;
  /** Files with custom field specs. */
  readonly configurations?: readonly string[] | undefined;
  /** Files, folders or inline YAML. */
  readonly generators?: readonly string[] | undefined;
  readonly transformers?: readonly string[] | undefined;
  readonly validators?: readonly string[] | undefined;
  readonly buildMetadata?: readonly string[] | undefined;
}

export type StringMap = Readonly<Record<string, string>>;

export interface FieldSpec {
  readonly group?: string | undefined;
  readonly version?: string | undefined;
  readonly kind?: string | undefined;
  readonly path: string;
  readonly create?: boolean | undefined;
}

export interface LabelEntry {
  readonly pairs?: StringMap | undefined;
  readonly includeSelectors?: boolean | undefined;
  readonly includeTemplates?: boolean | undefined;
  readonly fields?: readonly FieldSpec[] | undefined;
}

/** The target of a patch. Id fields are regular expressions that must match the whole string. */
export interface TargetSelector {
  readonly group?: string | undefined;
  readonly version?: string | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  /** A label selector string, or a map of equalities. */
  readonly labelSelector?: string | StringMap | undefined;
  /** Also from `matchAnnotations`. */
  readonly annotationSelector?: string | StringMap | undefined;
}

export interface PatchEntry {
  /** Also from `file`. */
  readonly path?: string | undefined;
  readonly patch?: string | undefined;
  readonly target?: TargetSelector | undefined;
  readonly options?:
    | { readonly allowNameChange?: boolean | undefined; readonly allowKindChange?: boolean | undefined }
    | undefined;
  /** `StrategicMergePatch` or `JsonPatch`; detected from the patch if undefined. */
  readonly type?: string | undefined;
}

/** One entry of `replacements`: either `path` or the other fields. */
export interface ReplacementEntry {
  readonly path?: string | undefined;
  readonly source?: JsonObject | undefined;
  readonly sourceValue?: string | undefined;
  readonly targets?: readonly JsonObject[] | undefined;
}

export interface ImageEntry {
  readonly name?: string | undefined;
  readonly newName?: string | undefined;
  readonly newTag?: string | undefined;
  readonly tagSuffix?: string | undefined;
  readonly digest?: string | undefined;
}

export interface ReplicaEntry {
  readonly name?: string | undefined;
  readonly count?: number | undefined;
}

export interface VarEntry {
  readonly name?: string | undefined;
  readonly objref?:
    | {
        readonly apiVersion?: string | undefined;
        readonly group?: string | undefined;
        readonly version?: string | undefined;
        readonly kind?: string | undefined;
        readonly name?: string | undefined;
        readonly namespace?: string | undefined;
      }
    | undefined;
  readonly fieldref?: { readonly fieldpath?: string | undefined } | undefined;
}

export interface SortOptions {
  readonly order?: string | undefined;
  readonly legacySortOptions?:
    | {
        readonly orderFirst?: readonly string[] | undefined;
        readonly orderLast?: readonly string[] | undefined;
      }
    | undefined;
}

export interface GeneratorOptions {
  readonly labels?: StringMap | undefined;
  readonly annotations?: StringMap | undefined;
  readonly disableNameSuffixHash?: boolean | undefined;
  readonly immutable?: boolean | undefined;
}

export interface ConfigMapEntry {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly behavior?: string | undefined;
  readonly literals?: readonly string[] | undefined;
  readonly files?: readonly string[] | undefined;
  readonly envs?: readonly string[] | undefined;
  readonly env?: string | undefined;
  readonly options?: GeneratorOptions | undefined;
}

export interface SecretEntry extends ConfigMapEntry {
  readonly type?: string | undefined;
}
