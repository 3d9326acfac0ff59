import { setMember } from '../../json/edit.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { isObject, type Json, type JsonObject } from '../../json/value.ts';
import { changeFields, isSelected } from '../fields/field-spec-apply.ts';
import { type FieldSpecs, mergeSpecs } from '../fields/field-specs.ts';
import type { FieldSpec, LabelEntry, StringMap } from '../kustomization/kustomization.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { currentId } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';

/** Sets labels or annotations in the fields of the specs. */
export function setPairs(set: ResourceSet, pairs: StringMap, specs: readonly FieldSpec[]): void {
  const entries = Object.entries(pairs);
  if (entries.length === 0) return;
  for (const resource of set.list()) {
    const id = currentId(resource);
    let object = resource.object;
    for (const spec of specs) {
      if (isSelected(id, spec))
        object = changeFields(object, spec, 'map', (value) => withPairs(value, entries, spec));
    }
    set.update(resource, object);
  }
}

function withPairs(value: Json, entries: readonly [string, string][], spec: FieldSpec): JsonObject {
  if (value !== null && !isObject(value)) {
    throw new KustomizeError(
      'KYM_KUSTOMIZE_RESOURCE',
      `the field ${spec.path} must be a map of labels or annotations, but it is ${stringifyJson(value)}`,
    );
  }
  let result: JsonObject = value ?? {};
  for (const [key, text] of entries) result = setMember(result, key, text);
  return result;
}

/** The fields that one entry of `labels` changes. */
export function labelSpecs(entry: LabelEntry, specs: FieldSpecs): readonly FieldSpec[] {
  const own = mergeSpecs(entry.fields ?? [], specs.labels);
  if (entry.includeSelectors === true) return mergeSpecs(own, specs.commonLabels);
  const withTemplates = entry.includeTemplates === true ? mergeSpecs(own, specs.templateLabels) : own;
  return mergeSpecs(withTemplates, [{ path: 'metadata/labels', create: true }]);
}
