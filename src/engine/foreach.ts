import { EvaluationError, type Scope } from '../expression/scope.ts';
import type { Json, JsonObject } from '../json/value.ts';
import type { AnchorMiss } from '../patch/compiled-patch.ts';
import type { CompiledForeach } from '../policy/compiled.ts';
import { type ContextSettings, type LoadedEntries, withContext } from './context.ts';
import type { ElementOutcome } from './outcome.ts';
import { ElementLayer } from './scope-layers.ts';
import { at } from './stage.ts';

/** How a loop reaches the world outside it. */
export interface LoopSetting {
  readonly context: ContextSettings;
  /** The scope around the loop, with `request.object` (or `target`) as it is now. */
  scopeFor(object: JsonObject): Scope;
  readonly elements: ElementOutcome[];
  readonly misses: AnchorMiss[];
}

/** Runs the entries in order; each sees in `request.object` what the ones before it made. */
export function runForeach(
  entries: readonly CompiledForeach[],
  object: JsonObject,
  setting: LoopSetting,
  depth = 0,
  outerIndex: readonly number[] = [],
): JsonObject {
  let current = object;
  for (const entry of entries) {
    const scope = setting.scopeFor(current);
    const elements = listElements(entry, scope);
    current = runElements(entry, elements, current, scope, setting, depth, outerIndex);
  }
  return current;
}

function listElements(entry: CompiledForeach, scope: Scope): readonly Json[] {
  const list = at('list', [...entry.path, 'list'], () => {
    try {
      return entry.list.evaluate(scope);
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error;
      const message = `failed to evaluate list ${entry.list.text}: ${error.message}`;
      throw new EvaluationError('KYM_LIST_FAILED', message, { cause: error });
    }
  });
  return Array.isArray(list) ? (list as readonly Json[]) : [list];
}

function runElements(
  entry: CompiledForeach,
  elements: readonly Json[],
  object: JsonObject,
  scope: Scope,
  setting: LoopSetting,
  depth: number,
  outerIndex: readonly number[],
): JsonObject {
  let current = object;
  const last = elements.length - 1;
  for (let step = 0; step <= last; step++) {
    const index = entry.order === 'Descending' ? last - step : step;
    const element = elements[index] ?? null;
    const position = [...outerIndex, index];
    if (element === null) {
      setting.elements.push({
        index: position,
        entry: entry.path,
        status: 'skipped',
        reason: { type: 'null' },
      });
      continue;
    }
    current = runElement(entry, element, index, position, current, scope, setting, depth);
  }
  return current;
}

function runElement(
  entry: CompiledForeach,
  element: Json,
  index: number,
  position: readonly number[],
  object: JsonObject,
  outer: Scope,
  setting: LoopSetting,
  depth: number,
): JsonObject {
  const loaded: LoadedEntries = new Map();
  const bind = (scope: Scope): Scope =>
    withContext(
      new ElementLayer(scope, element, index, depth, entry.as),
      entry.context,
      setting.context,
      loaded,
    );
  const scope = bind(outer);
  const record = (status: ElementOutcome['status'], reason?: ElementOutcome['reason']): void => {
    setting.elements.push({
      index: position,
      entry: entry.path,
      status,
      ...(reason === undefined ? {} : { reason }),
    });
  };

  const conditions = entry.preconditions;
  if (conditions !== undefined) {
    const verdict = at('preconditions', [...entry.path, 'preconditions'], () => conditions.evaluate(scope));
    if (!verdict.passed) {
      record('skipped', { type: 'preconditions', conditions: verdict.evaluated });
      return object;
    }
  }

  const body = entry.body;
  if (body.type === 'foreach') {
    const nested: LoopSetting = { ...setting, scopeFor: (current) => bind(setting.scopeFor(current)) };
    // Inside one entry `request.object` stays as it was when the entry began; only nested entries refresh it.
    const start: LoopSetting = { ...nested, scopeFor: refreshAfter(object, scope, nested.scopeFor) };
    return runForeach(body.entries, object, start, depth + 1, position);
  }

  const result = at('patch', entry.path, () => body.patch.apply(object, scope));
  setting.misses.push(...result.misses);
  if (result.status === 'skipped') {
    record('skipped', { type: 'anchor', misses: result.misses });
    return object;
  }
  record(result.object === object ? 'unchanged' : 'applied');
  return result.object;
}

function refreshAfter(
  start: JsonObject,
  initial: Scope,
  scopeFor: (object: JsonObject) => Scope,
): (object: JsonObject) => Scope {
  return (object) => (object === start ? initial : scopeFor(object));
}
