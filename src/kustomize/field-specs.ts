import type { FieldSpec } from './kustomization.ts';

/** The fields that each built-in transformer reaches. */
export interface FieldSpecs {
  readonly namePrefix: readonly FieldSpec[];
  readonly nameSuffix: readonly FieldSpec[];
  readonly namespace: readonly FieldSpec[];
  readonly commonLabels: readonly FieldSpec[];
  readonly templateLabels: readonly FieldSpec[];
  readonly commonAnnotations: readonly FieldSpec[];
  readonly nameReference: readonly NameBackReference[];
  readonly varReference: readonly FieldSpec[];
  readonly images: readonly FieldSpec[];
  readonly replicas: readonly FieldSpec[];
}

/** A kind, and the fields of others that hold the name of one. */
export interface NameBackReference {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly fieldSpecs: readonly FieldSpec[];
}
