import type { Json } from '../../json/value.ts';
import { decode, type Shape } from '../kustomization/decode.ts';
import type { FieldSpec } from '../kustomization/kustomization.ts';
import { fieldSpecShape } from '../kustomization/kustomization-shape.ts';

/** The fields that each built-in transformer changes. */
export interface FieldSpecs {
  readonly namePrefix: readonly FieldSpec[];
  readonly nameSuffix: readonly FieldSpec[];
  readonly namespace: readonly FieldSpec[];
  readonly commonLabels: readonly FieldSpec[];
  /** Additional fields for every entry of `labels`, from `configurations`. */
  readonly labels: readonly FieldSpec[];
  readonly templateLabels: readonly FieldSpec[];
  readonly commonAnnotations: readonly FieldSpec[];
  readonly nameReference: readonly NameBackReference[];
  readonly varReference: readonly FieldSpec[];
  readonly images: readonly FieldSpec[];
  readonly replicas: readonly FieldSpec[];
}

/** A kind and the fields of other kinds that refer to it by name. */
export interface NameBackReference {
  readonly group?: string | undefined;
  readonly version?: string | undefined;
  readonly kind?: string | undefined;
  readonly fieldSpecs: readonly FieldSpec[];
}

const list: Shape = { list: fieldSpecShape };

const configurationShape: Shape = {
  fields: {
    namePrefix: list,
    nameSuffix: list,
    namespace: list,
    commonLabels: list,
    labels: list,
    templateLabels: list,
    commonAnnotations: list,
    nameReference: { list: { fields: { group: 'text', version: 'text', kind: 'text', fieldSpecs: list } } },
    varReference: list,
    images: list,
    replicas: list,
  },
};

/** Reads a `configurations` file with custom field specs. Unknown keys are ignored, as in kustomize. */
export function readConfiguration(value: Json, file: string): Partial<FieldSpecs> {
  return (decode(value, configurationShape, '', { file, lenient: true }) ?? {}) as Partial<FieldSpecs>;
}

/** Merges field specs without duplicates. */
export function mergeFieldSpecs(base: FieldSpecs, more: Partial<FieldSpecs>): FieldSpecs {
  const merged = (key: Exclude<keyof FieldSpecs, 'nameReference'>) => mergeSpecs(base[key], more[key] ?? []);
  return {
    namePrefix: merged('namePrefix'),
    nameSuffix: merged('nameSuffix'),
    namespace: merged('namespace'),
    commonLabels: merged('commonLabels'),
    labels: merged('labels'),
    templateLabels: merged('templateLabels'),
    commonAnnotations: merged('commonAnnotations'),
    varReference: merged('varReference'),
    images: merged('images'),
    replicas: merged('replicas'),
    nameReference: mergeBackReferences(base.nameReference, more.nameReference ?? []),
  };
}

export function mergeSpecs(base: readonly FieldSpec[], more: readonly FieldSpec[]): readonly FieldSpec[] {
  if (more.length === 0) return base;
  const known = new Set(base.map(specKey));
  return [...base, ...more.filter((spec) => !known.has(specKey(spec)))];
}

function specKey({ group = '', version = '', kind = '', path }: FieldSpec): string {
  return [group, version, kind, path].join('\n');
}

function mergeBackReferences(
  base: readonly NameBackReference[],
  more: readonly NameBackReference[],
): readonly NameBackReference[] {
  const result = [...base];
  for (const entry of more) {
    const at = result.findIndex(
      ({ group = '', version = '', kind = '' }) =>
        group === (entry.group ?? '') && version === (entry.version ?? '') && kind === (entry.kind ?? ''),
    );
    const known = result[at];
    const specs = entry.fieldSpecs ?? [];
    if (known === undefined) result.push({ ...entry, fieldSpecs: specs });
    else result[at] = { ...known, fieldSpecs: mergeSpecs(known.fieldSpecs, specs) };
  }
  return result;
}
