import { hasVariable } from '../../expression/template/tokens.ts';
import { read, readObjects } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import { parseAnchor } from '../../patch/strategic/anchor-syntax.ts';
import { readOperations } from './json-patch-operations.ts';

/** One patch of a rule as written: of the rule itself, or of one of its loops. */
export interface PatchDocument {
  /** Path in the rule, up to the field that contains the patch. */
  readonly path: Path;
  readonly form: 'merge' | 'operations';
  readonly content: Json;
}

/** All patches of a `mutate` block, those inside loops included. */
export function patchDocuments(mutate: JsonObject, path: Path): readonly PatchDocument[] {
  const patches: PatchDocument[] = [];
  for (const field of ['patchStrategicMerge', 'overlay'] as const) {
    const overlay = read(mutate, field);
    if (overlay !== undefined) patches.push({ path: [...path, field], form: 'merge', content: overlay });
  }
  for (const field of ['patchesJson6902', 'patches'] as const) {
    const operations = read(mutate, field);
    if (operations !== undefined)
      patches.push({ path: [...path, field], form: 'operations', content: operations });
  }
  const loops = readObjects(mutate, 'foreach').flatMap((loop, index) =>
    patchDocuments(loop, [...path, 'foreach', index]),
  );
  return [...patches, ...loops];
}

/** Top-level fields a patch writes or reads; undefined when they depend on variables. */
export function topLevelFields(patch: PatchDocument): ReadonlySet<string> | undefined {
  if (patch.form === 'merge') {
    return isObject(patch.content) ? new Set(Object.keys(patch.content).map(withoutAnchor)) : undefined;
  }
  const operations = readOperations(patch.content);
  const fields = operations.map(({ path }) => path.split('/')[1] ?? '');
  return fields.some(hasVariable) ? undefined : new Set(fields);
}

export function touchesOnlyMetadata(patch: PatchDocument): boolean {
  return [...(topLevelFields(patch) ?? [])].every((field) => field === 'metadata');
}

/** Whether a patch has an entry or operation for this path or below it, such as `spec.replicas`; anchors count. */
export function mentionsPath(patch: PatchDocument, place: string): boolean {
  const steps = place.split('.');
  if (patch.form === 'merge') return hasSteps(patch.content, steps);
  const pointer = `/${steps.join('/')}`;
  return readOperations(patch.content).some(({ path }) => path === pointer || path.startsWith(`${pointer}/`));
}

function hasSteps(value: Json, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return true;
  if (!isObject(value)) return false;
  return Object.entries(value).some(([key, inner]) => withoutAnchor(key) === first && hasSteps(inner, rest));
}

/** Whether a patch writes and reads only below these paths, such as `metadata` and `spec.template`. */
export function staysBelow(patch: PatchDocument, places: readonly string[]): boolean {
  if (patch.form === 'merge') return liesBelow(patch.content, '', places);
  return readOperations(patch.content).every(({ path }) => {
    const steps = `${path.split('/').slice(1).join('.')}.`;
    return places.some((place) => steps.startsWith(`${place}.`));
  });
}

function liesBelow(value: Json, prefix: string, places: readonly string[]): boolean {
  if (!isObject(value)) return false;
  return Object.entries(value).every(([key, inner]) => {
    const at = `${prefix}${withoutAnchor(key)}`;
    return (
      places.includes(at) ||
      (places.some((place) => place.startsWith(`${at}.`)) && liesBelow(inner, `${at}.`, places))
    );
  });
}

/** A literal that a patch writes to a fixed path. `null` removes the value. */
export interface LiteralWrite {
  /** Path in the rule. */
  readonly path: Path;
  /** Path in the object. */
  readonly place: string;
  readonly value: Json;
}

/** The literals that a patch writes to the given paths, such as `metadata.name`. */
export function literalWrites(patch: PatchDocument, places: readonly string[]): readonly LiteralWrite[] {
  return patch.form === 'merge' ? mergeWrites(patch, places) : operationWrites(patch, places);
}

function mergeWrites(patch: PatchDocument, places: readonly string[]): readonly LiteralWrite[] {
  return places.flatMap((place) => {
    const steps = place.split('.');
    let value: Json | undefined = patch.content;
    for (const step of steps) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    if (value === undefined || (typeof value === 'string' && hasVariable(value))) return [];
    return [{ path: [...patch.path, ...steps], place, value }];
  });
}

function operationWrites(patch: PatchDocument, places: readonly string[]): readonly LiteralWrite[] {
  return readOperations(patch.content).flatMap(({ op, tokens, value }, index) => {
    const place = tokens?.join('.') ?? '';
    if (!places.includes(place)) return [];
    const path = [...patch.path, index];
    if (op === 'remove') return [{ path, place, value: null }];
    return (op === 'add' || op === 'replace') && value !== undefined ? [{ path, place, value }] : [];
  });
}

/** The field that an overlay key refers to: `labels` for `+(labels)`. */
export function withoutAnchor(key: string): string {
  return parseAnchor(key)?.key ?? key;
}
