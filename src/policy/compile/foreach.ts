import { type CompiledExpression, compileExpression } from '../../expression/expression.ts';
import { ExpressionSyntaxError, syntaxHint } from '../../expression/jmespath/syntax-error.ts';
import { hasVariable } from '../../expression/template/tokens.ts';
import { read, readList, readObjects, readText } from '../../json/read-field.ts';
import type { JsonObject, Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';
import { checkVariables, insideLoop, reservedNames, type VariableScope } from '../check/variable-scope.ts';
import type { CompiledForeach } from '../compiled.ts';
import type { PolicyFacts } from '../policy-facts.ts';
import { compileCheckedConditions } from './conditions.ts';
import { compileContext } from './context.ts';
import { compilePatchOf, type PatchedObject, withLoopReferences } from './patch.ts';

export interface ForeachSurroundings {
  readonly reporter: Reporter;
  readonly facts: PolicyFacts;
  readonly object: PatchedObject;
}

export function compileForeach(
  documents: readonly JsonObject[],
  path: Path,
  outer: VariableScope,
  around: ForeachSurroundings,
): readonly CompiledForeach[] {
  return documents.flatMap((document, index) => compileLoop(document, [...path, index], outer, around) ?? []);
}

function compileLoop(
  document: JsonObject,
  path: Path,
  outer: VariableScope,
  around: ForeachSurroundings,
): CompiledForeach | undefined {
  const { reporter, facts } = around;
  const list = compileList(readText(document, 'list') ?? '', [...path, 'list'], outer, reporter);
  const as = checkName(readText(document, 'as'), [...path, 'as'], reporter);
  const { entries, scope } = compileContext(
    readObjects(document, 'context'),
    [...path, 'context'],
    reporter,
    facts,
    insideLoop(outer, as),
  );
  const preconditions = compileCheckedConditions(
    read(document, 'preconditions'),
    [...path, 'preconditions'],
    reporter,
    scope,
    { legacyList: false },
  );
  const body = compileBody(document, path, scope, around);
  if (list === undefined || body === undefined) return undefined;
  return {
    path,
    list,
    order: orderOf(document),
    as,
    context: entries,
    preconditions,
    body,
  };
}

/** A merge prepends new items, so by default it visits the elements backwards to keep the order of the list. */
function orderOf(document: JsonObject): 'Ascending' | 'Descending' {
  const written = readText(document, 'order');
  if (written === 'Ascending' || written === 'Descending') return written;
  return read(document, 'patchStrategicMerge') === undefined ? 'Ascending' : 'Descending';
}

function compileBody(
  document: JsonObject,
  path: Path,
  scope: VariableScope,
  around: ForeachSurroundings,
): CompiledForeach['body'] | undefined {
  const { reporter } = around;
  if (readList(document, 'foreach').length > 0) {
    checkNesting(document, path, reporter);
    const nested = readObjects(document, 'foreach');
    return { type: 'foreach', entries: compileForeach(nested, [...path, 'foreach'], scope, around) };
  }
  if (!checkOnePatch(document, path, reporter)) return undefined;
  const resolved = withLoopReferences(document, path, reporter);
  const patch = compilePatchOf(resolved, path, reporter, scope, around.object);
  return patch === undefined ? undefined : { type: 'patch', patch };
}

function checkNesting(document: JsonObject, path: Path, reporter: Reporter): void {
  for (const field of ['context', 'preconditions', 'patchStrategicMerge', 'patchesJson6902']) {
    if (read(document, field) === undefined) continue;
    const message = `${field} cannot be used together with a nested foreach`;
    reporter.error([...path, field], 'KYM_MUTATE_FORM', message, 'Move it into the innermost foreach.');
  }
}

function checkOnePatch(document: JsonObject, path: Path, reporter: Reporter): boolean {
  const hasMerge = read(document, 'patchStrategicMerge') !== undefined;
  const hasOperations = (readText(document, 'patchesJson6902') ?? '') !== '';
  if (hasMerge !== hasOperations) return true;
  const found = hasMerge ? 'both' : 'none';
  const message = `a foreach entry needs one of patchStrategicMerge, patchesJson6902 and foreach; found ${found}`;
  reporter.error(path, 'KYM_MUTATE_FORM', message);
  return false;
}

/** The `list` of a loop: an expression without braces. */
export function compileList(
  text: string,
  path: Path,
  scope: VariableScope,
  reporter: Reporter,
): CompiledExpression | undefined {
  if (text.trim() === '') {
    reporter.error(path, 'KYM_FIELD_MISSING', 'a foreach entry needs a list');
    return undefined;
  }
  if (hasVariable(text)) {
    const hint = 'Write the expression without {{ }}.';
    reporter.error(path, 'KYM_EXPRESSION_SYNTAX', `list is already an expression: ${text}`, hint);
    return undefined;
  }
  try {
    const expression = compileExpression(text);
    checkVariables(expression.roots, scope, path, reporter);
    return expression;
  } catch (error) {
    if (!(error instanceof ExpressionSyntaxError)) throw error;
    reporter.error(path, 'KYM_EXPRESSION_SYNTAX', error.message, syntaxHint(text));
    return undefined;
  }
}

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

function checkName(as: string | undefined, path: Path, reporter: Reporter): string | undefined {
  if (as === undefined) return undefined;
  if (!identifier.test(as)) {
    const message = `${JSON.stringify(as)} cannot be used as a name in expressions`;
    reporter.error(path, 'KYM_FIELD_VALUE', message, 'Use letters, digits and _, starting with a letter.');
  } else if (reservedNames.includes(as) || as === 'target') {
    reporter.error(path, 'KYM_FIELD_VALUE', `the name ${as} conflicts with a built-in variable`);
  }
  return as;
}
