import { dirname, join } from 'node:path';
import { setMember } from '../../json/edit.ts';
import { isObject, type JsonObject, member } from '../../json/value.ts';
import type { BuildContext } from '../build-context.ts';
import type { PatchEntry } from '../kustomization/kustomization.ts';
import { atLocation, KustomizeError, type KustomizeLocation } from '../kustomize-error.ts';
import {
  annotationsOf,
  currentId,
  describeId,
  type Resource,
  sameId,
  withAnnotations,
} from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';
import { selectTargets } from '../resource/selector.ts';
import type { JsonPatchOperation } from './json.ts';
import { applyJsonPatch } from './json.ts';
import { readPatch } from './read-patch.ts';
import { applyStrategicPatch, findPatchTarget } from './strategic.ts';

/** `patchesStrategicMerge`: files or inline patches. Each finds its resource by its id. */
export function applyStrategicMergePatches(
  set: ResourceSet,
  entries: readonly string[],
  context: BuildContext,
): void {
  for (const [index, entry] of entries.entries()) {
    const field = `patchesStrategicMerge[${index}]`;
    const isInline = entry.includes('\n') || /^\s*[{[]/.test(entry);
    const text = isInline ? entry : context.folder.readText(entry, field);
    const { file } = context.folder;
    const place = { file: isInline ? file : join(dirname(file), entry), field };
    const patch = readPatch(text, 'StrategicMergePatch', place, context);
    if (patch.type !== 'strategic') continue;
    if (patch.patches.length === 0) {
      throw new KustomizeError('KYM_KUSTOMIZE_PATCH', 'the patch is empty', place);
    }
    for (const one of patch.patches) {
      const target = atLocation(place, () => findPatchTarget(set, one));
      patching(set, target, place, () => applyStrategicPatch(set, target, one.object, {}, context));
    }
    context.traced?.(set, field, isInline ? undefined : entry);
  }
}

/** `patches`: strategic merge or JSON patches for the resources that their target selects. */
export function applyPatches(set: ResourceSet, entries: readonly PatchEntry[], context: BuildContext): void {
  for (const [index, entry] of entries.entries()) {
    const field = `patches[${index}]`;
    applyPatch(set, entry, field, context);
    context.traced?.(set, field, entry.path);
  }
}

/** One entry of `patches`; `field` is its path in the kustomization. */
export function applyPatch(set: ResourceSet, entry: PatchEntry, field: string, context: BuildContext): void {
  const source = patchSource(entry, field, context);
  const patch = readPatch(source.text, entry.type, source.place, context);
  if (patch.type === 'json') {
    if (entry.target === undefined) {
      const message = 'a JSON patch needs a target';
      throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', message, placeOf(context, `${field}.target`));
    }
    applyToTargets(set, entry, patch.operations, source.place, context, field);
    return;
  }
  if (entry.target !== undefined && patch.patches.length > 1) {
    const message = 'an entry with several strategic merge patches cannot have a target';
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', message, placeOf(context, `${field}.target`));
  }
  for (const one of patch.patches) {
    const targets =
      entry.target === undefined
        ? [atLocation(source.place, () => findPatchTarget(set, one))]
        : selectTargets(set, entry.target, placeOf(context, `${field}.target`), context.options.warn);
    for (const target of targets) {
      patching(set, target, source.place, () =>
        applyStrategicPatch(set, target, one.object, entry.options ?? {}, context),
      );
    }
  }
}

/** `patchesJson6902`. */
export function applyJson6902Patches(
  set: ResourceSet,
  entries: readonly PatchEntry[],
  context: BuildContext,
): void {
  for (const [index, entry] of entries.entries()) {
    const field = `patchesJson6902[${index}]`;
    if (entry.target?.name === undefined || entry.target.name === '') {
      const message = 'the target needs a name';
      throw new KustomizeError(
        'KYM_KUSTOMIZATION_INVALID',
        message,
        placeOf(context, `${field}.target.name`),
      );
    }
    const source = patchSource(entry, field, context);
    const patch = readPatch(source.text, 'JsonPatch', source.place, context);
    if (patch.type !== 'json' || patch.operations.length === 0) {
      throw new KustomizeError('KYM_KUSTOMIZE_PATCH', 'the patch is empty', source.place);
    }
    applyToTargets(set, entry, patch.operations, source.place, context, field, false);
    context.traced?.(set, field, entry.path);
  }
}

function applyToTargets(
  set: ResourceSet,
  { target = {} }: PatchEntry,
  operations: readonly JsonPatchOperation[],
  place: KustomizeLocation,
  context: BuildContext,
  field: string,
  remembers = true,
): void {
  const targets = selectTargets(set, target, placeOf(context, `${field}.target`), context.options.warn);
  for (const resource of targets) {
    patching(set, resource, place, () => {
      const patched = applyJsonPatch(withAnnotationsMap(resource, remembers), operations);
      if (!isObject(patched))
        throw new KustomizeError('KYM_KUSTOMIZE_PATCH', 'the patched resource is not a map');
      if (remembers && !resource.previousIds.some((known) => sameId(known, currentId(resource)))) {
        set.rememberId(resource);
      }
      set.update(resource, withAnnotations(patched, annotationsOf(patched)));
    });
  }
}

/**
 * kustomize stores earlier names in annotations, so a renamed resource has an annotations map that a patch can add to.
 * `patches` stores them for every resource.
 */
function withAnnotationsMap(resource: Resource, isStored: boolean): JsonObject {
  const { object, previousIds, needsHash, behavior } = resource;
  const isRemembered = isStored || previousIds.length > 0 || needsHash || behavior !== 'unspecified';
  const metadata = member(object, 'metadata');
  if (!isRemembered || !isObject(metadata) || Object.hasOwn(metadata, 'annotations')) return object;
  return setMember(object, 'metadata', setMember(metadata, 'annotations', {}));
}

/** Adds the resource to errors, and checks that the patch did not create a duplicate id. */
function patching(set: ResourceSet, resource: Resource, place: KustomizeLocation, action: () => void): void {
  const id = currentId(resource);
  atLocation(place, () => {
    try {
      action();
      const after = currentId(resource);
      if (after !== id && !sameId(after, id) && set.withCurrentId(after).length > 1) set.checkUnique();
    } catch (error) {
      if (!(error instanceof KustomizeError)) throw error;
      throw new KustomizeError(error.code, `${describeId(id)}: ${error.message}`, error.place);
    }
  });
}

function patchSource(
  entry: PatchEntry,
  field: string,
  context: BuildContext,
): { readonly text: string; readonly place: KustomizeLocation } {
  const inline = entry.patch?.trim() ?? '';
  const path = entry.path ?? '';
  if ((inline === '') === (path === '')) {
    const message = inline === '' ? 'neither path nor patch is set' : 'path and patch are both set';
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', message, placeOf(context, field));
  }
  if (inline !== '') return { text: inline, place: placeOf(context, `${field}.patch`) };
  return {
    text: context.folder.readText(path, `${field}.path`),
    place: { file: join(dirname(context.folder.file), path), field },
  };
}

function placeOf(context: BuildContext, field: string): KustomizeLocation {
  return { file: context.folder.file, field };
}
