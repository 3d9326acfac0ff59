import type { CelScope, CompileContext } from './compile/closure.ts';
import { compileNode } from './compile/compile.ts';
import type { Node } from './syntax/ast.ts';
import { parse } from './syntax/parser.ts';
import { type CelProblem, CelSyntaxError, problemAt } from './syntax/problem.ts';
import { check } from './types/checker.ts';
import type { Environment } from './types/environment.ts';
import type { Type } from './types/type.ts';
import { validateExpression } from './validate.ts';
import type { Value } from './value/value.ts';

export interface CelExpression {
  readonly source: string;
  readonly node: Node;
  /** The static type of the result. */
  readonly type: Type;
  /** Names of the variables that the expression reads. */
  readonly reads: ReadonlySet<string>;
  /** Throws CelError when evaluation fails. */
  evaluate(scope: CelScope): Value;
}

export type CelResult =
  | { readonly expression: CelExpression; readonly problems: readonly [] }
  | { readonly expression: undefined; readonly problems: readonly CelProblem[] };

/**
 * Parses, type-checks and compiles an expression. Every problem has a position; nothing that has a problem is
 * evaluated.
 *
 * @example compileCel('object.spec.replicas > 1', environment).expression?.evaluate(scope)
 */
export function compileCel(source: string, environment: Environment): CelResult {
  return build(source, environment, false);
}

/** Compiles without a type check: all types are known at run time only. */
export function compileUnchecked(source: string, environment: Environment): CelResult {
  return build(source, environment, true);
}

function build(source: string, environment: Environment, dynamic: boolean): CelResult {
  const problems: CelProblem[] = [];
  const report = (offset: number, message: string, hint?: string): void => {
    problems.push(problemAt(source, offset, message, hint));
  };
  let node: Node;
  try {
    node = parse(source, environment.macros);
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error;
    return { expression: undefined, problems: [problemAt(source, error.offset, error.message, error.hint)] };
  }
  const checked = check(node, environment, { report, dynamic });
  if (problems.length === 0 && !dynamic) validateExpression(node, checked, environment, report);
  if (problems.length > 0) return refused(problems);
  const context: CompileContext = {
    checked,
    scopes: [],
    slots: 0,
    reads: new Set(),
    report: dynamic ? () => undefined : report,
  };
  const closure = compileNode(node, context);
  if (problems.length > 0) return refused(problems);
  const { slots, reads } = context;
  const evaluate = (scope: CelScope): Value =>
    closure({ scope, effects: scope.effects, locals: slots === 0 ? noLocals : new Array<Value>(slots) });
  return { expression: { source, node, type: checked.type, reads, evaluate }, problems: [] };
}

/** Problems are listed in source order. */
function refused(problems: readonly CelProblem[]): CelResult {
  return { expression: undefined, problems: problems.toSorted((a, b) => a.offset - b.offset) };
}

const noLocals: Value[] = [];
