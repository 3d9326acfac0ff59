import { resolveReferences } from '../../expression/template/reference.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { read, readList, readObject, readObjects, readText } from '../../json/read-field.ts';
import { isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import { withLoopReferences } from '../../policy/compile/patch.ts';
import type { CompiledRule } from '../../policy/compiled.ts';
import type { Reporter } from '../../problem.ts';
import { overlayWritesV1alpha1 } from './alpha.ts';
import { schemasOf, type WrittenKind, writtenKinds } from './kinds.ts';
import { operationWrites } from './operations.ts';
import { type LoopNames, overlayWrites } from './overlay.ts';
import { replacementWrites } from './replacements.ts';
import { sameStep, type Write, type WriteSchema } from './write-step.ts';

/** The possible writes of a rule in objects of one kind. */
export interface KindWrites {
  readonly kind: WrittenKind;
  readonly writes: readonly Write[];
}

/**
 * The paths that a rule may write, by kind: exact where they are literal, `any` where they depend on an anchor, a loop
 * or a variable. A write covers everything below its path, and the parents created for it.
 *
 * @example
 * writeSet(rule)[0]?.writes.map((write) => formatSteps(write.path)) // ['metadata.labels.team']
 */
export function writeSet(rule: CompiledRule): readonly KindWrites[] {
  const document = withReferences(rule.document);
  const mutate = readObject(document, 'mutate') ?? {};
  return writtenKinds(document)
    .map((kind) => ({
      kind,
      writes: distinct(
        schemasOf(kind).flatMap((schema) => mutationWrites(mutate, ['mutate'], { schema, kind, loops: [] })),
      ),
    }))
    .filter(({ writes }) => writes.length > 0);
}

interface Surroundings {
  readonly schema: WriteSchema;
  readonly kind: WrittenKind;
  readonly loops: readonly LoopNames[];
}

function mutationWrites(owner: JsonObject, path: Path, around: Surroundings): readonly Write[] {
  const { schema, kind, loops } = around;
  const at = (field: string): Path => [...path, field];
  const writes: Write[] = [];
  const merge = read(owner, 'patchStrategicMerge');
  if (isObject(merge)) writes.push(...overlayWrites(merge, at('patchStrategicMerge'), schema, loops));
  const overlay = read(owner, 'overlay');
  if (isObject(overlay)) writes.push(...overlayWritesV1alpha1(overlay, at('overlay')));
  for (const field of ['patchesJson6902', 'patches'] as const) {
    const source: Json | undefined = read(owner, field);
    if (source !== undefined) writes.push(...operationWrites(source, at(field), schema, loops));
  }
  readObjects(owner, 'replacements').forEach((entry, index) => {
    writes.push(...replacementWrites(entry, [...path, 'replacements', index], kind));
  });
  readObjects(owner, 'foreach').forEach((loop, index) => {
    const place = [...path, 'foreach', index];
    const inner = withLoopReferences(loop, place, silent);
    writes.push(...mutationWrites(inner, place, { ...around, loops: [...loops, loopNames(loop)] }));
  });
  return writes;
}

function loopNames(loop: JsonObject): LoopNames {
  const as = readText(loop, 'as');
  return { list: readText(loop, 'list') ?? '', as };
}

/** As in compilation: outside loops, references start at the rule; a loop resolves its own. */
function withReferences(rule: JsonObject): JsonObject {
  if (readList(readObject(rule, 'mutate') ?? {}, 'foreach').length > 0) return rule;
  const resolved = resolveReferences(rule, [], silent);
  return isObject(resolved) ? resolved : rule;
}

/** Problems of the rule were reported when it was compiled. */
const silent: Reporter = { error: () => {}, warn: () => {} };

function distinct(writes: readonly Write[]): readonly Write[] {
  const kept: Write[] = [];
  for (const write of writes) if (!kept.some((other) => isSame(other, write))) kept.push(write);
  return kept;
}

function isSame(left: Write, right: Write): boolean {
  return (
    left.effect === right.effect &&
    left.path.length === right.path.length &&
    left.path.every((step, index) => {
      const other = right.path[index];
      return other !== undefined && sameStep(step, other);
    }) &&
    stringifyJson(left.value) === stringifyJson(right.value)
  );
}
