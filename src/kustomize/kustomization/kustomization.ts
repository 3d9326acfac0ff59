import type { JsonObject } from '../../json/value.ts';

/** A kustomization after its fields are checked and spelled alike; what is absent or null is undefined. */
export interface Kustomization {
  readonly kind: 'Kustomization' | 'Component';
  readonly openapi?: Readonly<Record<string, string>>;
  readonly namePrefix?: string;
  readonly nameSuffix?: string;
  readonly namespace?: string;
  readonly commonLabels?: Texts;
  readonly labels?: readonly LabelEntry[];
  readonly commonAnnotations?: Texts;
  /** Files or inline texts. */
  readonly patchesStrategicMerge?: readonly string[];
  readonly patchesJson6902?: readonly PatchEntry[];
  readonly patches?: readonly PatchEntry[];
  readonly images?: readonly ImageEntry[];
  readonly replacements?: readonly ReplacementEntry[];
  readonly replicas?: readonly ReplicaEntry[];
  readonly vars?: readonly VarEntry[];
  readonly sortOptions?: SortOptions;
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly crds?: readonly string[];
  readonly configMapGenerator?: readonly ConfigMapEntry[];
  readonly secretGenerator?: readonly SecretEntry[];
  readonly helmGlobals?: JsonObject;
  readonly helmCharts?: readonly JsonObject[];
  readonly helmChartInflationGenerator?: readonly JsonObject[];
  readonly generatorOptions?: GeneratorOptions;
  /** Files with field specs of one's own. */
  readonly configurations?: readonly string[];
  /** Files, folders or inline texts. */
  readonly generators?: readonly string[];
  readonly transformers?: readonly string[];
  readonly validators?: readonly string[];
  readonly buildMetadata?: readonly string[];
}

export type Texts = Readonly<Record<string, string>>;

export interface FieldSpec {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly path: string;
  readonly create?: boolean;
}

export interface LabelEntry {
  readonly pairs?: Texts;
  readonly includeSelectors?: boolean;
  readonly includeTemplates?: boolean;
  readonly fields?: readonly FieldSpec[];
}

/** The target of a patch. Id fields are regular expressions that have to match as a whole. */
export interface TargetSelector {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  /** Text in selector grammar, or a map of equalities. */
  readonly labelSelector?: string | Texts;
  /** Also from `matchAnnotations`. */
  readonly annotationSelector?: string | Texts;
}

export interface PatchEntry {
  /** Also from `file`. */
  readonly path?: string;
  readonly patch?: string;
  readonly target?: TargetSelector;
  readonly options?: { readonly allowNameChange?: boolean; readonly allowKindChange?: boolean };
  /** `StrategicMergePatch` or `JsonPatch`; the text decides when it is absent. */
  readonly type?: string;
}

/** One entry of `replacements`, keys checked; either `path` or the rest. */
export interface ReplacementEntry {
  readonly path?: string;
  readonly source?: JsonObject;
  readonly sourceValue?: string;
  readonly targets?: readonly JsonObject[];
}

export interface ImageEntry {
  readonly name?: string;
  readonly newName?: string;
  readonly newTag?: string;
  readonly tagSuffix?: string;
  readonly digest?: string;
}

export interface ReplicaEntry {
  readonly name?: string;
  readonly count?: number;
}

export interface VarEntry {
  readonly name?: string;
  readonly objref?: {
    readonly apiVersion?: string;
    readonly group?: string;
    readonly version?: string;
    readonly kind?: string;
    readonly name?: string;
    readonly namespace?: string;
  };
  readonly fieldref?: { readonly fieldpath?: string };
}

export interface SortOptions {
  readonly order?: string;
  readonly legacySortOptions?: {
    readonly orderFirst?: readonly string[];
    readonly orderLast?: readonly string[];
  };
}

export interface GeneratorOptions {
  readonly labels?: Texts;
  readonly annotations?: Texts;
  readonly disableNameSuffixHash?: boolean;
  readonly immutable?: boolean;
}

export interface ConfigMapEntry {
  readonly name?: string;
  readonly namespace?: string;
  readonly behavior?: string;
  readonly literals?: readonly string[];
  readonly files?: readonly string[];
  readonly envs?: readonly string[];
  readonly env?: string;
  readonly options?: GeneratorOptions;
}

export interface SecretEntry extends ConfigMapEntry {
  readonly type?: string;
}
