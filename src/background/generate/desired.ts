import { loadedEntriesFor, withContext } from '../../engine/context/context.ts';
import { DataCache } from '../../engine/context/data-cache.ts';
import type { DataSource } from '../../engine/context/data-source.ts';
import { RequestFacts, RequestScope } from '../../engine/context/request-scope.ts';
import { ElementLayer, loopNames } from '../../engine/context/scope-layers.ts';
import type { Request } from '../../engine/request.ts';
import type { ErrorCode } from '../../errors.ts';
import { type Environment, EvaluationError, type Scope } from '../../expression/scope.ts';
import type { CompiledTemplate } from '../../expression/template/template.ts';
import { BudgetError } from '../../json/budget.ts';
import { formatPointer } from '../../json/pointer.ts';
import { readObject, readText, readTexts } from '../../json/read-field.ts';
import { isArray, isObject, type Json, type JsonObject } from '../../json/value.ts';
import type {
  CompiledGenerateLoop,
  CompiledGeneratePattern,
  CompiledGenerateRule,
  CompiledPolicy,
} from '../../policy/compiled.ts';
import { parseKind } from '../../policy/kind-selector.ts';
import { createEvaluate, type Evaluate, type EvaluationOptions } from '../evaluate.ts';
import { addLabels, refOf, refTitle } from '../object-identity.ts';
import { type ObjectReader, type ObjectRef, StoreError } from '../ports.ts';
import { inScope, isInScope, listInScope } from '../scope.ts';
import { labelSelectorText } from '../store/label-selector-text.ts';
import { contextSettings, ruleScope } from '../triggers/triggered-rules.ts';
import { objectFromData, objectFromSource } from './content.ts';
import { ruleLabels, triggerLabels } from './labels.ts';

/** A generate rule and a trigger that matches it. */
export interface DesiredRun {
  readonly policy: CompiledPolicy;
  readonly rule: CompiledGenerateRule;
  readonly request: Request;
  readonly reader: ObjectReader;
  readonly dataSource: DataSource;
  readonly environment: Environment;
  readonly evaluation?: EvaluationOptions | undefined;
}

export type Desired =
  | { readonly ref: ObjectRef; readonly object: JsonObject }
  /** Nothing to generate: the source is the target itself, or an element does not meet its preconditions. */
  | { readonly ref?: ObjectRef | undefined; readonly skipped: string }
  | DesiredFailure;

export interface DesiredFailure {
  readonly ref?: ObjectRef | undefined;
  readonly code: ErrorCode;
  readonly failed: string;
  readonly storeError?: StoreError | undefined;
}

interface Evaluating extends DesiredRun {
  readonly evaluate: Evaluate;
}

/** The desired objects for a trigger, with labels that record their origin. */
export async function desiredObjects(options: DesiredRun): Promise<readonly Desired[]> {
  const run: Evaluating = { ...options, evaluate: createEvaluate(options.evaluation) };
  const { policy, rule, request } = run;
  const data = new DataCache(run.dataSource);
  const facts = new RequestFacts(request, run.environment);
  const scope = ruleScope(policy, rule, new RequestScope(facts, request.object), request, data);
  const trigger = refOf(request.object ?? request.oldObject ?? {});
  const labels = { ...ruleLabels(policy, rule.name), ...triggerLabels(trigger) };
  const { generation } = rule;
  const made =
    generation.type === 'pattern'
      ? await guarded(run, () => fromPattern(generation.pattern, scope, run))
      : (await Promise.all(generation.entries.map((entry) => fromLoop(entry, scope, run, data)))).flat();
  return made.map((one) => ('object' in one ? { ...one, object: addLabels(one.object, labels) } : one));
}

async function fromLoop(
  loop: CompiledGenerateLoop,
  outer: Scope,
  run: Evaluating,
  data: DataCache,
): Promise<readonly Desired[]> {
  return guarded(run, async () => {
    const list = await run.evaluate(() => loop.list.evaluate(outer));
    const elements = isArray(list) ? list : [list];
    const made: Desired[] = [];
    for (const [index, element] of elements.entries()) {
      if (element !== null)
        made.push(...(await guarded(run, () => fromElement(loop, element, index, outer, run, data))));
    }
    return made;
  });
}

async function fromElement(
  loop: CompiledGenerateLoop,
  element: Json,
  index: number,
  outer: Scope,
  run: Evaluating,
  data: DataCache,
): Promise<readonly Desired[]> {
  const settings = contextSettings(run.policy, run.rule, run.request, data);
  const layer = new ElementLayer(outer, element, index, loopNames(0, undefined));
  const scope = withContext(layer, loop.context, settings, loadedEntriesFor(loop.context));
  const { preconditions } = loop;
  const passed = await run.evaluate(() => preconditions?.evaluate(scope).passed ?? true);
  if (!passed) return [{ skipped: `element ${index}: preconditions not met` }];
  return fromPattern(loop.pattern, scope, run);
}

/** A failure of one element or pattern does not affect the others. */
async function guarded(
  { policy, rule }: DesiredRun,
  make: () => Promise<readonly Desired[]>,
): Promise<readonly Desired[]> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof BudgetError) {
      const location = formatPointer(error.location ?? ['generate']);
      const failed = `policy ${policy.key}, rule ${rule.name}, ${location}: ${error.message}`;
      return [{ code: error.code, failed }];
    }
    if (error instanceof EvaluationError) return [{ code: error.code, failed: error.message }];
    if (error instanceof StoreError) {
      return [{ code: 'KYM_CLUSTER', failed: error.message, storeError: error }];
    }
    throw error;
  }
}

async function fromPattern(
  pattern: CompiledGeneratePattern,
  scope: Scope,
  run: Evaluating,
): Promise<readonly Desired[]> {
  const { policy } = run;
  const text = (template: CompiledTemplate | undefined): Promise<string> =>
    run.evaluate(() => {
      const value = template?.render(scope) ?? '';
      if (typeof value === 'string') return value;
      throw new EvaluationError('KYM_FIELD_TYPE', 'apiVersion, kind, namespace and name must be strings');
    });
  const stated: ObjectRef = {
    apiVersion: await text(pattern.apiVersion),
    kind: await text(pattern.kind),
    namespace: await text(pattern.namespace),
    name: await text(pattern.name),
  };
  const { content } = pattern;
  if (content.type === 'cloneList') {
    return copyList(await rendered(content.source, scope, run), stated.namespace, run);
  }
  const ref = inScope(policy, stated, run.reader);
  switch (content.type) {
    case 'none':
      return [{ ref, skipped: 'the rule has neither data nor clone' }];
    case 'data': {
      const data = await run.evaluate(() => content.data.render(scope));
      return isObject(data) ? [{ ref, object: objectFromData(data, ref) }] : [];
    }
    case 'clone': {
      const source = await rendered(content.source, scope, run);
      const from = { namespace: readText(source, 'namespace') ?? '', name: readText(source, 'name') ?? '' };
      return [await copyOne(inScope(policy, { ...ref, ...from }, run.reader), ref, run)];
    }
  }
}

async function rendered(template: CompiledTemplate, scope: Scope, run: Evaluating): Promise<JsonObject> {
  const value = await run.evaluate(() => template.render(scope));
  return isObject(value) ? value : {};
}

async function copyOne(source: ObjectRef, ref: ObjectRef, run: Evaluating): Promise<Desired> {
  if (source.namespace === ref.namespace && source.name === ref.name) {
    return { ref, skipped: 'an object is not copied onto itself' };
  }
  const object = await run.reader.get(source);
  if (object === undefined) {
    return { ref, code: 'KYM_SOURCE_NOT_FOUND', failed: `the source ${refTitle(source)} does not exist` };
  }
  return { ref, object: objectFromSource(object, ref) };
}

async function copyList(list: JsonObject, to: string, run: Evaluating): Promise<readonly Desired[]> {
  const { policy, reader } = run;
  const labelSelector = labelSelectorText(readObject(list, 'selector') ?? {});
  const made: Desired[] = [];
  for (const text of readTexts(list, 'kinds')) {
    const { apiVersion, kind } = apiVersionAndKind(text);
    const from = listInScope(
      policy,
      { apiVersion, kind, namespace: readText(list, 'namespace') ?? '' },
      reader,
    );
    const namespace = listInScope(policy, { apiVersion, kind, namespace: to }, reader);
    const sources = await reader.list({
      apiVersion,
      kind,
      namespace: from === '' ? undefined : from,
      labelSelector,
    });
    for (const source of sources) {
      const found = refOf(source);
      if (!isInScope(policy, found, reader)) continue;
      const ref: ObjectRef = { apiVersion: found.apiVersion, kind: found.kind, namespace, name: found.name };
      made.push(
        found.namespace === namespace
          ? { ref, skipped: 'an object is not copied onto itself' }
          : { ref, object: objectFromSource(source, ref) },
      );
    }
  }
  return made;
}

/** Splits `v1/Secret`, `apps/v1/Deployment` or a plain kind. */
export function apiVersionAndKind(text: string): { readonly apiVersion: string; readonly kind: string } {
  const slash = text.lastIndexOf('/');
  if (slash >= 0) return { apiVersion: text.slice(0, slash), kind: text.slice(slash + 1) };
  return { apiVersion: '*', kind: parseKind(text)?.kind ?? text };
}
