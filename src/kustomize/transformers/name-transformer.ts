import type { Json, JsonObject } from '../../json/value.ts';
import { changeFields, isSelected } from '../fields/field-spec-apply.ts';
import type { FieldSpec } from '../kustomization/kustomization.ts';
import { originalId, type Resource } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';

/** Kinds whose names have a meaning outside of the build. */
const keptNames = [
  { kind: 'CustomResourceDefinition' },
  { kind: 'APIService', group: 'apiregistration.k8s.io' },
  { kind: 'Namespace' },
];

export function addPrefix(set: ResourceSet, prefix: string, specs: readonly FieldSpec[]): void {
  changeNames(set, specs, (name) => prefix + name, prefix === '' ? {} : { prefix });
}

export function addSuffix(set: ResourceSet, suffix: string, specs: readonly FieldSpec[]): void {
  changeNames(set, specs, (name) => name + suffix, suffix === '' ? {} : { suffix });
}

function changeNames(
  set: ResourceSet,
  specs: readonly FieldSpec[],
  rename: (name: string) => string,
  layer: { readonly prefix?: string | undefined; readonly suffix?: string | undefined },
): void {
  for (const resource of set.list()) {
    const id = originalId(resource);
    if (keptNames.some((spec) => isSelected(id, spec))) continue;
    for (const spec of specs) {
      if (!isSelected(id, spec)) continue;
      const isName = spec.path === 'metadata/name' && (layer.prefix ?? layer.suffix) !== undefined;
      if (isName) set.rememberId(resource);
      const object = changeFields(resource.object, spec, undefined, (value) => renamed(value, rename));
      set.update(resource, object, isName ? notes(resource, layer) : {});
    }
  }
}

function notes(
  resource: Resource,
  layer: { readonly prefix?: string | undefined; readonly suffix?: string | undefined },
) {
  return layer.prefix !== undefined
    ? { prefixes: [...resource.prefixes, layer.prefix] }
    : { suffixes: [...resource.suffixes, layer.suffix ?? ''] };
}

function renamed(value: Json, rename: (name: string) => string): Json {
  return typeof value === 'object' ? value : rename(String(value));
}

export function withName(object: JsonObject, name: string): JsonObject {
  return changeFields(object, { path: 'metadata/name', create: true }, 'scalar', () => name);
}
