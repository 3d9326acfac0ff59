import type { Json } from '../../json/value.ts';

/**
 * The schema of a policy document as data. Loading checks documents against it; CRDs, JSON Schema and the reference
 * page are generated from it.
 */
export interface FieldSchema {
  readonly type: FieldType;
  readonly description: string;
  readonly required?: true | undefined;
  readonly enum?: readonly string[] | undefined;
  readonly default?: Json | undefined;
  /** What to use instead. */
  readonly deprecated?: string | undefined;
  /** API versions that have the field; all when absent. */
  readonly versions?: readonly string[] | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly maxLength?: number | undefined;
}

export type FieldType =
  | 'string'
  | 'boolean'
  | 'integer'
  /** Any JSON: patches, values. Nothing below is checked here. */
  | 'free'
  /** An object whose content is not checked: other rule types, metadata. */
  | 'object'
  /** A map of strings. */
  | 'texts'
  | { readonly list: FieldType }
  | { readonly object: ObjectSchema }
  /** A schema that contains itself. */
  | { readonly lazy: () => FieldType };

export type ObjectSchema = Readonly<Record<string, FieldSchema>>;

/** Versions before the any/all form became the only one. */
export const versionsWithFlatForms: readonly string[] = [
  'kyverno.io/v1',
  'kymera.io/v1',
  'kyverno.io/v1alpha1',
];
