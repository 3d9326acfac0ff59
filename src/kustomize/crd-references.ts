import type { Json } from '../json/value.ts';
import type { FieldSpecs } from './field-specs.ts';

/** References, labels and annotations that the types of a CRD file declare. */
export function crdFieldSpecs(_document: Json): Partial<FieldSpecs> {
  return {};
}
