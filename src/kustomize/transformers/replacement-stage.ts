import { emptyScope } from '../../expression/scope.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import { PatchError } from '../../patch/compiled-patch.ts';
import { compilePlan, type ReplacementPlan } from '../../patch/replacement/plan.ts';
import { describeSelector } from '../../patch/replacement/selector.ts';
import type { PlanTarget } from '../../patch/replacement/target.ts';
import type { BuildContext } from '../build-context.ts';
import { decode } from '../kustomization/decode.ts';
import type { ReplacementEntry } from '../kustomization/kustomization.ts';
import { replacementShape } from '../kustomization/kustomization-shape.ts';
import { atLocation, KustomizeError, type KustomizeLocation } from '../kustomize-error.ts';
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
      applyReplacement(set, candidates, entry as unknown as JsonObject, place);
      continue;
    }
    if (entry.source !== undefined || (entry.targets?.length ?? 0) > 0) {
      const message = 'path and an inline replacement are both set';
      throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', message, place);
    }
    const text = context.folder.readText(entry.path, `${field}.path`);
    for (const [at, replacement] of readReplacements(text, entry.path).entries()) {
      applyReplacement(set, candidates, replacement, { file: entry.path, field: `[${at}]` });
    }
  }
  checkNames(set, { file: context.folder.file, field: 'replacements' });
}

/** A replacement may write names: they are still there, and still differ. */
function checkNames(set: ResourceSet, place: KustomizeLocation): void {
  atLocation(place, () => set.checkUnique());
  for (const resource of set.list()) {
    if (currentId(resource).name !== '') continue;
    const message = `a replacement left a ${currentId(resource).kind} without metadata.name`;
    throw new KustomizeError('KYM_REPLACEMENT_FAILED', message, place);
  }
}

/** A file holds one replacement or a list of them. Keys it does not know are left out, as kustomize leaves them. */
function readReplacements(text: string, file: string): readonly JsonObject[] {
  const value = readSettings(text, file);
  if (value !== null && !isArray(value) && !isObject(value)) {
    const message = `expected a replacement or a list of replacements, found ${JSON.stringify(value)}`;
    throw new KustomizeError('KYM_KUSTOMIZATION_INVALID', message, { file });
  }
  const list = isArray(value) ? value : value === null ? [] : [value];
  return list.map((item, index) => {
    const decoded = decode(item, replacementShape, `[${index}]`, { file, lenient: true });
    return isObject(decoded) ? decoded : {};
  });
}

/** A resource with the ids it is found by, which are put together once. */
interface Candidate {
  readonly resource: Resource;
  sourceIds: readonly ResourceId[];
  targetIds: readonly ResourceId[];
}

function candidateOf(resource: Resource): Candidate {
  return { resource, sourceIds: allIds(resource).map(placed), targetIds: targetIds(resource) };
}

function applyReplacement(
  set: ResourceSet,
  candidates: readonly Candidate[],
  entry: JsonObject,
  place: KustomizeLocation,
): void {
  const { path: _path, ...inline } = entry;
  const plan = atLocation(place, () => compiled(inline));
  const value = atLocation(place, () => sourceValue(candidates, plan.source));
  for (const target of plan.targets) {
    for (const candidate of candidates) {
      const { resource } = candidate;
      if (!target.selects({ ids: candidate.targetIds, object: resource.object }, emptyScope)) continue;
      const id = currentId(resource);
      atLocation(place, () => writeTarget(set, resource, target, value));
      if (!sameId(id, currentId(resource))) Object.assign(candidate, candidateOf(resource));
    }
  }
}

function compiled(entry: JsonObject): ReplacementPlan {
  const error = (path: Path, _code: string, message: string, hint?: string): never => {
    const field = fieldText(path);
    throw new KustomizeError(
      'KYM_REPLACEMENT_INVALID',
      field === '' ? message : `${field}: ${message}`,
      hint === undefined ? {} : { hint },
    );
  };
  const plan = compilePlan(entry, [], { error, warn: () => {} }, 'kustomize');
  if (plan === undefined)
    throw new KustomizeError('KYM_REPLACEMENT_INVALID', 'the replacement is not well-formed');
  return plan;
}

function fieldText(path: Path): string {
  return path
    .map((token, index) => (typeof token === 'number' ? `[${token}]` : index === 0 ? token : `.${token}`))
    .join('');
}

/** One resource has to fit, by its id now or an earlier one. */
function sourceValue(candidates: readonly Candidate[], source: ReplacementPlan['source']): Json {
  if ('literal' in source) return source.literal(emptyScope);
  const found = candidates
    .filter(({ sourceIds }) => sourceIds.some((id) => source.fits(id, emptyScope)))
    .map(({ resource }) => resource);
  const [first, ...others] = found;
  if (first === undefined || others.length > 0) {
    const what = first === undefined ? 'nothing is selected' : `${found.length} resources are selected`;
    throw new KustomizeError(
      'KYM_REPLACEMENT_FAILED',
      `${what} by the source ${describeSelector(source.selector(emptyScope))}`,
    );
  }
  return failing(() => source.read(first.object, emptyScope));
}

function writeTarget(set: ResourceSet, resource: Resource, target: PlanTarget, value: Json): void {
  const id = currentId(resource);
  const written = failing(() => target.write(resource.object, value, emptyScope), describeId(id));
  if (written !== resource.object) set.update(resource, written);
}

function failing<T>(work: () => T, resource?: string): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    const message = resource === undefined ? error.message : `${resource}: ${error.message}`;
    throw new KustomizeError('KYM_REPLACEMENT_FAILED', message);
  }
}

/** The namespace of a source is the effective one. */
function placed(id: ResourceId): ResourceId {
  const namespace = effectiveNamespace(id);
  return namespace === id.namespace ? id : { ...id, namespace };
}

/**
 * What a target is selected by. The present id counts as it is written, without a namespace where none is; earlier
 * ones have their effective namespace, and the group and version that the resource has now.
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
