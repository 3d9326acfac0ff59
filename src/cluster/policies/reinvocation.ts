import { expressionReads, joinReads, type Reads } from '../../expression/template/reads.ts';
import { findVariables } from '../../expression/template/tokens.ts';
import { readObject, readObjects, readText } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject, type Path } from '../../json/value.ts';
import { readOperations } from '../../policy/check/json-patch-operations.ts';
import { patchDocuments } from '../../policy/check/patch-writes.ts';
import { contextReads } from '../../policy/check/rule-reads.ts';
import type { CompiledPolicy } from '../../policy/compiled.ts';

const reinvocationAnnotation = 'kymera.io/reinvocation';

/**
 * Whether a policy may run again on its own result after a later webhook or the API server changed the object. It may not if a
 * second run would insert another list item, remove one at a fixed index, or compute a different value.
 */
export function mayBeReinvoked(policy: CompiledPolicy): boolean {
  const written = policy.annotations[reinvocationAnnotation];
  if (written === 'never') return false;
  if (written === 'if-needed') return true;
  return policy.rules.every(
    (rule) =>
      rule.targets !== undefined || (!movesListItems(rule.document) && !dependsOnTimeOrChance(rule.document)),
  );
}

function movesListItems(rule: JsonObject): boolean {
  return patchDocuments(readObject(rule, 'mutate') ?? {}, []).some(
    ({ form, content, path: location }) =>
      form === 'operations' &&
      readOperations(content).some(({ op, path }) => {
        if (!movesItems.has(op)) return false;
        const index = lastStep(path);
        return isIndex(index) && !(op === 'remove' && isFoundInObject(index, rule, location));
      }),
  );
}

const movesItems: ReadonlySet<string> = new Set(['add', 'remove', 'copy', 'move']);

/** Paths in v1alpha1 policies may end in `/`; a variable may contain it. */
function lastStep(path: string): string {
  return path.replace(/\/$/, '').replace(/^.*\/(?![^{]*\}\})/s, '');
}

/** `0`, `-`, `-1`, or a variable. */
function isIndex(step: string): boolean {
  return /^(-|-?\d+)$/.test(step) || /^\{\{.*\}\}$/s.test(step);
}

const loopVariable = /^element(Index)?\d*$/;

/**
 * Whether the index is computed from the current object: directly, through context entries, or as the position in a list of a loop.
 * A second run finds the item again, or finds none. `location` is the path of the patch in the `mutate` block.
 */
function isFoundInObject(index: string, rule: JsonObject, location: Path): boolean {
  const loops = enclosingLoops(rule, location);
  const lists = joinReads(loops.map((loop) => expressionReads(readText(loop, 'list') ?? "''")));
  const entries = [rule, ...loops].flatMap(contextReads);
  const seen = new Set<string>();
  const readsObject = ({ paths }: Reads): boolean =>
    paths.some(([root, field]) => {
      if (root === 'request') return field === 'object';
      if (typeof root !== 'string' || seen.has(root)) return false;
      seen.add(root);
      if (loopVariable.test(root)) return readsObject(lists);
      return entries.some(({ name, reads }) => name === root && readsObject(reads));
    });
  return findVariables(index).some(({ expression }) => readsObject(expressionReads(expression)));
}

function enclosingLoops(rule: JsonObject, location: Path): readonly JsonObject[] {
  const loops: JsonObject[] = [];
  let holder: JsonObject | undefined = readObject(rule, 'mutate');
  for (const step of location) {
    if (typeof step !== 'number' || holder === undefined) continue;
    holder = readObjects(holder, 'foreach')[step];
    if (holder !== undefined) loops.push(holder);
  }
  return loops;
}

const timeOrChance = /\b(random|time_now|time_now_utc|time_since)\s*\(/;

function dependsOnTimeOrChance(value: Json): boolean {
  if (typeof value === 'string') return timeOrChance.test(value);
  if (isArray(value)) return value.some(dependsOnTimeOrChance);
  return isObject(value) && Object.values(value).some(dependsOnTimeOrChance);
}
