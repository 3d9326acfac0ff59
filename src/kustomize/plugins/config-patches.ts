import { removeMember, setMember } from '../../json/edit.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { isObject, type JsonObject, member } from '../../json/value.ts';
import type { BuildContext } from '../build-context.ts';
import type { Kustomization, PatchEntry } from '../kustomization/kustomization.ts';
import { readPatch } from '../patches/read-patch.ts';
import { applyPatch } from '../patches/stage.ts';
import { applyStrategicPatch } from '../patches/strategic.ts';
import { createResource, type Resource } from '../resource/resource.ts';
import { createResourceSet, type ResourceSet } from '../resource/resource-set.ts';
import { pluginName } from './plugin-name.ts';

export interface PatchedConfigs {
  /** By original config, without configs that a patch deleted. */
  readonly configs: ReadonlyMap<JsonObject, JsonObject>;
  /** Without the patches that only apply to configs. */
  readonly kustomization: Kustomization;
}

/**
 * Applies the patches of a kustomization to its plugin configs. A patch with a target applies if the target has a group, kind
 * or name; a patch without target applies if it has the id of the config.
 */
export function patchConfigs(
  configs: readonly JsonObject[],
  kustomization: Kustomization,
  context: BuildContext,
): PatchedConfigs {
  // Each config has its own set: names are optional, so ids may be equal.
  const sets = new Map(
    configs.map((config) => [config, createResourceSet([createResource(asResource(config))])]),
  );
  const all = [...sets.values()];
  const patchesStrategicMerge = (kustomization.patchesStrategicMerge ?? []).filter((entry, index) => {
    const text = entry.includes('\n')
      ? entry
      : context.folder.readText(entry, `patchesStrategicMerge[${index}]`);
    return !isForConfigs(text, all, {}, context);
  });
  const patches = (kustomization.patches ?? []).filter((entry, index) =>
    patchBy(entry, `patches[${index}]`, all, context),
  );
  for (const [index, entry] of (kustomization.patchesJson6902 ?? []).entries()) {
    patchBy(entry, `patchesJson6902[${index}]`, all, context);
  }
  return {
    configs: new Map(
      [...sets].flatMap(([config, set]) =>
        set.list().map(({ object }) => [config, asConfig(object, config)] as const),
      ),
    ),
    kustomization: {
      ...kustomization,
      patches,
      patchesStrategicMerge,
    },
  };
}

/** Patches the configs. Returns whether the entry also applies to resources. */
function patchBy(
  entry: PatchEntry,
  field: string,
  sets: readonly ResourceSet[],
  context: BuildContext,
): boolean {
  const { target } = entry;
  if (target !== undefined) {
    const names = [target.group, target.kind, target.name].some((text) => text !== undefined && text !== '');
    if (names) for (const set of sets) applyPatch(set, entry, field, context);
    return true;
  }
  const text =
    entry.patch ?? (entry.path === undefined ? '' : context.folder.readText(entry.path, `${field}.path`));
  return !isForConfigs(text, sets, entry.options ?? {}, context);
}

/** Applies a strategic merge patch to matching configs. Returns whether all its patches matched one. */
function isForConfigs(
  text: string,
  sets: readonly ResourceSet[],
  options: NonNullable<PatchEntry['options']>,
  context: BuildContext,
): boolean {
  const patch = readPatch(text, undefined, { file: context.folder.file }, context);
  if (patch.type === 'json' || patch.patches.length === 0) return false;
  const isConfigPatch = patch.patches.map((one) => {
    const targets = sets.flatMap((set) => set.list().map((config) => ({ set, config })));
    const named = targets.filter(({ config }) => isSameConfig(one, config));
    for (const { set, config } of named) applyStrategicPatch(set, config, one.object, options, context);
    return named.length > 0;
  });
  return isConfigPatch.every((yes) => yes);
}

function isSameConfig(patch: Resource, config: Resource): boolean {
  const key = ({ object }: Resource) => {
    const { group, version, kind } = pluginName(object);
    const metadata = member(object, 'metadata');
    return stringifyJson([group, version, kind, isObject(metadata) ? (member(metadata, 'name') ?? '') : '']);
  };
  return key(patch) === key(config);
}

/** Selectors need an apiVersion. */
function asResource(config: JsonObject): JsonObject {
  if (Object.hasOwn(config, 'apiVersion')) return config;
  const { group, version } = pluginName(config);
  return setMember(config, 'apiVersion', version === '' ? `${group}/` : `${group}/${version}`);
}

function asConfig(object: JsonObject, config: JsonObject): JsonObject {
  return Object.hasOwn(config, 'apiVersion') ? object : removeMember(object, 'apiVersion');
}
