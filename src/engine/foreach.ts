import { EvaluationError, type Scope } from '../expression/scope.ts';
import { spendSteps } from '../json/budget.ts';
import type { Draft } from '../json/draft.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { AnchorMiss, CompiledPatch, PatchResult } from '../patch/compiled-patch.ts';
import type { CompiledForeach } from '../policy/compiled.ts';
import {
  type ContextSettings,
  type LoadedEntries,
  loadedEntriesFor,
  withContext,
} from './context/context.ts';
import { ElementLayer, type LoopNames, loopNames, ValuesLayer } from './context/scope-layers.ts';
import type { ElementOutcome } from './outcome.ts';
import { at, stageError } from './stage.ts';

/** The environment of a loop. */
export interface LoopSetting {
  readonly context: ContextSettings;
  /** The scope around the loop, with the current `request.object` (or `target`). */
  readonly scopeFor: (object: JsonObject) => Scope;
  /** What the loop has copied since its last scope. Absent when the outcome of each element is recorded. */
  readonly draft: Draft | undefined;
  /** Filled in only when explaining. */
  readonly elements: ElementOutcome[] | undefined;
  readonly misses: AnchorMiss[];
  /** Index in each loop around this one. */
  readonly outerIndex: readonly number[];
}

/** One entry while its elements are processed. */
interface Loop {
  readonly entry: CompiledForeach;
  readonly names: LoopNames;
  /** Within an entry, `request.object` does not change. */
  readonly scope: Scope;
  readonly setting: LoopSetting;
}

/** Runs the entries in order; each sees the changes of earlier entries in `request.object`. */
export function runForeach(
  entries: readonly CompiledForeach[],
  object: JsonObject,
  setting: LoopSetting,
): JsonObject {
  let current = object;
  for (const entry of entries) {
    const names = loopNames(setting.outerIndex.length, entry.as);
    const scope = setting.scopeFor(current);
    current = runElements({ entry, names, scope, setting }, current);
  }
  return current;
}

function runElements(loop: Loop, object: JsonObject): JsonObject {
  const { entry } = loop;
  const elements = listElements(entry, loop.scope);
  const last = elements.length - 1;
  let current = object;
  for (let step = 0; step <= last; step++) {
    spendSteps(32);
    const index = entry.order === 'Descending' ? last - step : step;
    const element = elements[index] ?? null;
    if (element === null) record(loop, index, 'skipped', { type: 'null' });
    else current = runElement(loop, element, index, current);
  }
  return current;
}

/** A single value counts as a list of one element. */
function listElements(entry: CompiledForeach, scope: Scope): readonly Json[] {
  const list = at('list', entry.path, () => evaluateList(entry, scope), 'list');
  return Array.isArray(list) ? (list as readonly Json[]) : [list];
}

function evaluateList(entry: CompiledForeach, scope: Scope): Json {
  try {
    return entry.list.evaluate(scope);
  } catch (error) {
    if (!(error instanceof EvaluationError)) throw error;
    const message = `failed to evaluate list ${entry.list.text}: ${error.message}`;
    throw new EvaluationError('KYM_LIST_FAILED', message, { cause: error });
  }
}

function runElement(loop: Loop, element: Json, index: number, object: JsonObject): JsonObject {
  const { entry, setting } = loop;
  const { body, preconditions } = entry;
  const bound = bindElement(loop, element, index);
  const scope = scopeOf(loop, bound, loop.scope);

  if (preconditions !== undefined) {
    const verdict = at('preconditions', entry.path, () => preconditions.evaluate(scope), 'preconditions');
    if (!verdict.passed) {
      record(loop, index, 'skipped', { type: 'preconditions', conditions: verdict.evaluated });
      return object;
    }
  }

  if (body.type === 'patch') return patchElement(loop, body.patch, scope, index, object);
  // The first nested entry sees the same scope; later ones see the changes of the nested entries before them.
  let isFirst = true;
  const scopeFor = (current: JsonObject): Scope => {
    if (!isFirst) return scopeOf(loop, bound, setting.scopeFor(current));
    isFirst = false;
    return scope;
  };
  return runForeach(body.entries, object, {
    ...setting,
    scopeFor,
    outerIndex: [...setting.outerIndex, index],
  });
}

/** What the scopes of one element have in common. */
interface BoundElement {
  readonly element: Json;
  readonly index: number;
  readonly given: Readonly<Record<string, Json>> | undefined;
  readonly context: ContextSettings;
  readonly loaded: LoadedEntries;
}

function bindElement({ entry, setting }: Loop, element: Json, index: number): BoundElement {
  const given = setting.context.elementBindings?.(index);
  const context =
    given === undefined
      ? setting.context
      : { ...setting.context, bindings: { ...setting.context.bindings, ...given } };
  return { element, index, given, context, loaded: loadedEntriesFor(entry.context) };
}

function scopeOf({ entry, names }: Loop, bound: BoundElement, outer: Scope): Scope {
  const { element, index, given, context, loaded } = bound;
  const layer = new ElementLayer(outer, element, index, names);
  return withContext(
    given === undefined ? layer : new ValuesLayer(layer, given),
    entry.context,
    context,
    loaded,
  );
}

function patchElement(
  loop: Loop,
  patch: CompiledPatch,
  scope: Scope,
  index: number,
  object: JsonObject,
): JsonObject {
  const { draft, misses } = loop.setting;
  let result: PatchResult;
  try {
    result = patch.apply(object, scope, draft);
  } catch (error) {
    throw stageError(error, 'patch', patch.path);
  }
  if (result.misses.length > 0 && misses.length < mostMisses) misses.push(...result.misses);
  if (result.status === 'skipped') {
    record(loop, index, 'skipped', { type: 'anchor', misses: result.misses });
    return object;
  }
  record(loop, index, result.object === object ? 'unchanged' : 'applied');
  return result.object;
}

/** Enough for an explanation, also for loops over thousands of elements. */
const mostMisses = 1_000;

function record(
  { entry, setting }: Loop,
  index: number,
  status: ElementOutcome['status'],
  reason?: ElementOutcome['reason'],
): void {
  if (setting.elements === undefined) return;
  const position = [...setting.outerIndex, index];
  const outcome = { index: position, entry: entry.path, status };
  setting.elements.push(reason === undefined ? outcome : { ...outcome, reason });
}
