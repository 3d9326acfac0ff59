import { dirname, join } from 'node:path';
import { emptyScope } from '../../expression/scope.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { isArray, isObject, type Json, type JsonObject, member, type Path } from '../../json/value.ts';
import { PatchError } from '../../patch/compiled-patch.ts';
import { compilePlan, type ReplacementPlan } from '../../patch/replacement/plan.ts';
import { describeSelector } from '../../patch/replacement/selector.ts';
import type { PlanTarget } from '../../patch/replacement/target.ts';
import type { BuildContext } from '../build-context.ts';
import { decode } from '../kustomization/decode.ts';
import type { ReplacementEntry } from '../kustomization/kustomization.ts';
import { replacementShape } from '../kustomization/kustomization-shape.ts';
import { atLocation, KustomizeError, type KustomizeLocation } from '../kustomize-error.ts';
import { isTooLargeToCopy, tooLargeToCopy } from '../resource/copied-value.ts';
import {
  allIds,
  currentId,
  describeId,
  effectiveNamespace,
  type Resource,
  type ResourceId,
  sameId,
} from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';
import type { TracedField, TracedTarget } from '../trace.ts';
import { readSettings } from '../yaml/read.ts';

/** `replacements`, one after another. */
export function applyReplacements(
  set: ResourceSet,
  entries: readonly ReplacementEntry[],
  context: BuildContext,
): void {
  const candidates = set.list().map(candidateOf);
  for (const [index, entry] of entries.entries()) {
    const field = `replacements[${index}]`;
    const place = { file: context.folder.file, field };
    if (entry.path === undefined || entry.path === '') {
      applyReplacement(set, candidates, entry as unknown as JsonObject, place, context);
      context.traced?.(set, field);
      continue;
    }
    if (entry.source !== undefined || (entry.targets?.length ?? 0) > 0) {
      const message = 'path and an inline replacement are both set';
      throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', message, place);
    }
    const text = context.folder.readText(entry.path, `${field}.path`);
    for (const [at, replacement] of readReplacements(text, entry.path).entries()) {
      const file = join(dirname(context.folder.file), entry.path);
      applyReplacement(set, candidates, replacement, { file, field: `[${at}]` }, context);
    }
    context.traced?.(set, field, entry.path);
  }
  checkNames(set, { file: context.folder.file, field: 'replacements' });
}

/** A replacement may change names. They must exist and be unique. */
function checkNames(set: ResourceSet, place: KustomizeLocation): void {
  atLocation(place, () => set.checkUnique());
  for (const resource of set.list()) {
    if (currentId(resource).name !== '') continue;
    const message = `a replacement removed metadata.name of a ${currentId(resource).kind}`;
    throw new KustomizeError('KYM_REPLACEMENT_FAILED', message, place);
  }
}

/** A file contains one replacement or a list. Unknown keys are ignored, as in kustomize. */
function readReplacements(text: string, file: string): readonly JsonObject[] {
  const value = readSettings(text, file);
  if (value !== null && !isArray(value) && !isObject(value)) {
    const message = `expected a replacement or a list of replacements, found ${stringifyJson(value)}`;
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', message, { file });
  }
  const list = isArray(value) ? value : value === null ? [] : [value];
  return list.map((item, index) => {
    const decoded = decode(item, replacementShape, `[${index}]`, { file, lenient: true });
    return isObject(decoded) ? decoded : {};
  });
}

/** A resource with the ids for source and target selectors. */
interface Candidate {
  readonly resource: Resource;
  sourceIds: readonly ResourceId[];
  targetIds: readonly ResourceId[];
}

function candidateOf(resource: Resource): Candidate {
  return {
    resource,
    sourceIds: allIds(resource).map(withEffectiveNamespace),
    targetIds: targetIds(resource),
  };
}

function applyReplacement(
  set: ResourceSet,
  candidates: readonly Candidate[],
  entry: JsonObject,
  place: KustomizeLocation,
  { options }: BuildContext,
): void {
  const { path: _path, ...inline } = entry;
  const plan = compiled(inline, place, options.warn);
  const source = atLocation(place, () => sourceOf(candidates, plan.source));
  // A target may be the source itself.
  const from = options.trace && source.placeOf?.();
  const traced: TracedTarget[] = [];
  for (const [index, target] of plan.targets.entries()) {
    const field = `${place.field ?? ''}.targets[${index}]`;
    for (const candidate of candidates) {
      const { resource } = candidate;
      if (!target.selects({ ids: candidate.targetIds, object: resource.object }, emptyScope)) continue;
      const id = currentId(resource);
      const before = resource.object;
      atLocation({ ...place, field }, () => writeTarget(set, resource, target, source.value));
      if (options.trace !== undefined) {
        const written = target.placesOf(before, resource.object, emptyScope);
        traced.push(...written.map((path) => ({ resource, path, options: optionsOf(inline, index) })));
      }
      if (!sameId(id, currentId(resource))) Object.assign(candidate, candidateOf(resource));
    }
  }
  const { file = '', field = '' } = place;
  options.trace?.replaced({ file, field, source: from, value: source.value, targets: traced });
}

/** The options of a target as written. */
function optionsOf(entry: JsonObject, index: number): JsonObject | undefined {
  const targets = member(entry, 'targets');
  const target = isArray(targets) ? targets[index] : undefined;
  const options = isObject(target) ? member(target, 'options') : undefined;
  return isObject(options) ? options : undefined;
}

function compiled(
  entry: JsonObject,
  place: KustomizeLocation,
  warnOf: (text: string) => void,
): ReplacementPlan {
  const at = (path: Path) => {
    const field = fieldText(path);
    return field === '' ? place : { ...place, field: `${place.field ?? ''}.${field}` };
  };
  const error = (path: Path, _code: string, message: string, hint?: string): never => {
    throw new KustomizeError('KYM_REPLACEMENT_INVALID', message, { ...at(path), hint });
  };
  const warn = (path: Path, _code: string, message: string): void => {
    const { file = '', field = '' } = at(path);
    warnOf(`${file}: ${field}: ${message}`);
  };
  const plan = compilePlan(entry, [], { error, warn }, 'kustomize');
  if (plan === undefined)
    throw new KustomizeError('KYM_REPLACEMENT_INVALID', 'the replacement is invalid', place);
  return plan;
}

function fieldText(path: Path): string {
  return path
    .map((token, index) => (typeof token === 'number' ? `[${token}]` : index === 0 ? token : `.${token}`))
    .join('');
}

/** Exactly one resource must match, by a current or earlier id. */
function sourceOf(
  candidates: readonly Candidate[],
  source: ReplacementPlan['source'],
): { readonly value: Json; placeOf?(): TracedField | undefined } {
  if ('literal' in source) return { value: source.literal(emptyScope) };
  const found = candidates
    .filter(({ sourceIds }) => sourceIds.some((id) => source.fits(id, emptyScope)))
    .map(({ resource }) => resource);
  const [first, ...others] = found;
  if (first === undefined || others.length > 0) {
    const what = first === undefined ? 'no resource matches' : `${found.length} resources match`;
    throw new KustomizeError(
      'KYM_REPLACEMENT_FAILED',
      `${what} the source ${describeSelector(source.selector(emptyScope))}`,
    );
  }
  const value = withResource(() => source.read(first.object, emptyScope));
  if (isTooLargeToCopy(value)) throw new KustomizeError('KYM_REPLACEMENT_FAILED', tooLargeToCopy);
  return {
    value,
    placeOf() {
      const path = source.placeOf(first.object, emptyScope);
      return path && { resource: first, path };
    },
  };
}

function writeTarget(set: ResourceSet, resource: Resource, target: PlanTarget, value: Json): void {
  const id = currentId(resource);
  const written = withResource(() => target.write(resource.object, value, emptyScope), describeId(id));
  if (written !== resource.object) set.update(resource, written);
}

function withResource<T>(work: () => T, resource?: string): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    const message = resource === undefined ? error.message : `${resource}: ${error.message}`;
    throw new KustomizeError('KYM_REPLACEMENT_FAILED', message);
  }
}

/** Source selectors compare the effective namespace. */
function withEffectiveNamespace(id: ResourceId): ResourceId {
  const namespace = effectiveNamespace(id);
  return namespace === id.namespace ? id : { ...id, namespace };
}

/**
 * The ids for target selectors. The current id is used as written, possibly without namespace. Earlier ids have their
 * effective namespace and the current group and version.
 */
function targetIds(resource: Resource): readonly ResourceId[] {
  const id = currentId(resource);
  if (resource.previousIds.length === 0) return [id];
  return [
    id,
    ...resource.previousIds.map((earlier) => ({
      ...earlier,
      group: id.group,
      version: id.version,
      namespace: effectiveNamespace(earlier),
    })),
  ];
}
