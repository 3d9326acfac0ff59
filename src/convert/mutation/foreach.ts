import { read, readList, readObject, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject } from '../../json/value.ts';
import { allOf, precedence, primary, text, within } from '../expression/cel-text.ts';
import { translateConditions } from '../expression/conditions.ts';
import { translateContext } from '../expression/context.ts';
import { translateJmesPath } from '../expression/jmespath.ts';
import { type CelText, NotConvertible, type Scope } from '../types.ts';
import { translateJsonPatch } from './json-patch.ts';
import { type Step, when } from './operations.ts';
import { translateOverlay } from './strategic.ts';
import type { KindSchema } from './target.ts';

const indexNames = ['index', 'innerIndex', 'innermostIndex'];
const elementNames = ['element', 'innerElement', 'innermostElement'];

/** The steps of one entry of `foreach`. */
export function foreachSteps(
  entry: JsonObject,
  path: string,
  scope: Scope,
  schema: KindSchema,
  depth = 0,
): readonly Step[] {
  const list = listOf(entry, path, scope, depth);
  const [index, item] = [indexNames[depth], elementNames[depth]];
  if (index === undefined || item === undefined)
    throw new NotConvertible(path, 'more than three nested loops');
  const inner = elementScope(entry, path, scope, depth, { list, index, item });
  const preconditions = read(entry, 'preconditions');
  const conditions =
    preconditions === undefined ? [] : [translateConditions(preconditions, `${path}.preconditions`, inner)];
  const body = bodySteps(entry, path, inner, schema, depth, conditions);
  const reversed = orderOf(entry) === 'Descending';
  if (!reversed && removesItems(body, index)) {
    throw new NotConvertible(path, 'items are removed in ascending order, so that later indexes are wrong');
  }
  const condition = allOf(conditions).source;
  const names = [index, item];
  const isParent = (step: Step): boolean => step.type === 'if' && step.isParent === true;
  // A merge that does not depend on the element has no effect for later elements.
  const isMerge = read(entry, 'patchStrategicMerge') !== undefined;
  const needed = body.filter((step) => !isParent(step) || !leadsTo(step, readText(entry, 'list') ?? ''));
  const shared = needed.filter((step) => !mentions(step, names) && (isParent(step) || isMerge));
  const own = needed.filter((step) => !shared.includes(step));
  refuseSharedAdds(own, names, path);
  const once = (steps: readonly Step[]): readonly Step[] =>
    steps.length === 0 ? [] : [when(anyElement(list, names, condition), steps)];
  return [
    ...once(shared.filter(isParent)),
    ...(own.length === 0
      ? []
      : [{ type: 'each', list: list.source, index, item, condition, steps: own, reversed } as const]),
    ...once(shared.filter((step) => !isParent(step))),
  ];
}

/** The parents of a list with elements exist. */
function leadsTo(step: Step, list: string): boolean {
  const [first] = step.type === 'if' ? step.steps : [];
  const path = first?.type === 'operation' ? /^'([\w/]+)'$/.exec(first.path)?.[1] : undefined;
  return path !== undefined && list.trim().startsWith(`request.object${path.replaceAll('/', '.')}.`);
}

function anyElement(
  { source }: CelText,
  [index = '', item = '']: readonly string[],
  condition: string,
): string {
  if (condition === 'true') return `size(${source}) > 0`;
  return `${source}.exists(${mentionsName(condition, index) ? `${index}, ` : ''}${item}, ${condition})`;
}

/** In the old policy only the first element adds it; the steps for the elements do not see each other. */
function refuseSharedAdds(steps: readonly Step[], names: readonly string[], path: string): void {
  const isFree = (source: string): boolean => !names.some((name) => mentionsName(source, name));
  for (const step of steps) {
    if (step.type !== 'if' || step.isParent === true || !isFree(step.condition)) continue;
    const isShared = step.steps.some(
      (inner) => inner.type === 'operation' && inner.op === 'add' && isFree(inner.path),
    );
    if (isShared) throw new NotConvertible(path, 'several elements add the same field');
  }
}

function mentions(step: Step, names: readonly string[]): boolean {
  return sourcesOf(step).some((source) => names.some((name) => mentionsName(source, name)));
}

/** The expressions of a step. */
function sourcesOf(step: Step): readonly string[] {
  switch (step.type) {
    case 'operation':
      return [step.path, step.from ?? '', step.value ?? ''];
    case 'each':
      return [step.list, step.condition ?? '', ...step.steps.flatMap(sourcesOf)];
    case 'if':
      return [step.condition, ...[...step.steps, ...(step.otherwise ?? [])].flatMap(sourcesOf)];
    case 'assert':
      return [step.condition, ...step.steps.flatMap(sourcesOf)];
  }
}

function mentionsName(source: string, name: string): boolean {
  return new RegExp(`(?<![\\w.'"])${name}(?![\\w'":])`).test(source);
}

function removesItems(steps: readonly Step[], index: string): boolean {
  return steps.some((step) =>
    step.type === 'operation'
      ? step.op === 'remove' && step.path.endsWith(`string(${index})`)
      : removesItems(step.steps, index),
  );
}

function orderOf(entry: JsonObject): string {
  const written = readText(entry, 'order');
  return written ?? (read(entry, 'patchStrategicMerge') === undefined ? 'Ascending' : 'Descending');
}

function listOf(entry: JsonObject, path: string, scope: Scope, depth: number): CelText {
  const source = readText(entry, 'list') ?? '';
  const at = `${path}.list`;
  const list = translateJmesPath(source, at, scope);
  const isList = list.type === 'list' || list.schema?.kind === 'list';
  if (!isList) throw new NotConvertible(at, 'the expression may give something other than a list');
  const filled =
    list.type === 'list' ? list.source : `${within(list, precedence.sum)} == null ? [] : ${list.source}`;
  const elements = list.type === 'list' ? list : { ...list, source: filled, precedence: precedence.ternary };
  if (depth > 0) return { ...elements, source: primary(elements), precedence: precedence.primary };
  return scope.variable(hintOf(source), elements, at);
}

/** @example hintOf('request.object.spec.containers') // 'containers' */
function hintOf(source: string): string {
  return /([A-Za-z]\w*)\W*$/.exec(source)?.[1] ?? 'elements';
}

interface LoopNames {
  readonly list: CelText;
  readonly index: string;
  readonly item: string;
}

function elementScope(
  entry: JsonObject,
  path: string,
  scope: Scope,
  depth: number,
  { list, index, item }: LoopNames,
): Scope {
  const schema = list.schema?.kind === 'list' ? list.schema.items : undefined;
  const element: CelText = { ...text(item, 'dyn'), schema, total: true };
  const position: CelText = { ...text(index, 'int'), total: true };
  const alias = readText(entry, 'as') ?? readText(entry, 'elementScope');
  const bindings = new Map([
    ['element', element],
    ['elementIndex', position],
    [`element${depth}`, element],
    [`elementIndex${depth}`, position],
    ...(typeof alias === 'string' ? [[alias, element] as const, [`${alias}Index`, position] as const] : []),
  ]);
  const inner = withoutHoisting(scope.child(bindings), [index, item]);
  const context = readList(entry, 'context');
  return context.length === 0 ? inner : translateContext(context, `${path}.context`, inner);
}

/** What reads the element cannot be a variable of the policy. */
function withoutHoisting(scope: Scope, names: readonly string[]): Scope {
  return {
    ...scope,
    variable: (hint, expression, origin) =>
      names.some((name) => mentionsName(expression.source, name))
        ? expression
        : scope.variable(hint, expression, origin),
    child: (bindings) => withoutHoisting(scope.child(bindings), names),
  };
}

function bodySteps(
  entry: JsonObject,
  path: string,
  scope: Scope,
  schema: KindSchema,
  depth: number,
  conditions: CelText[],
): readonly Step[] {
  const nested = readObjects(entry, 'foreach');
  if (nested.length > 0) {
    return nested.flatMap((inner, index) =>
      foreachSteps(inner, `${path}.foreach[${index}]`, scope, schema, depth + 1),
    );
  }
  const overlay = readObject(entry, 'patchStrategicMerge');
  if (overlay !== undefined) {
    const { guard, steps } = translateOverlay(overlay, `${path}.patchStrategicMerge`, scope, {
      ...schema,
      isApplied: false,
    });
    conditions.push(guard);
    return steps;
  }
  const patch = readText(entry, 'patchesJson6902');
  if (patch === undefined) throw new NotConvertible(path, 'the loop has no patch');
  const [steps = [], ...others] = translateJsonPatch(
    patch,
    `${path}.patchesJson6902`,
    scope,
    schema.declared,
  );
  if (others.length > 0)
    throw new NotConvertible(path, 'several operations of a loop write to the same path');
  return steps;
}
