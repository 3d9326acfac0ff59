import type { CelScope, CompileContext, Frame } from './compile/closure.ts';
import { compileNode } from './compile/compile.ts';
import type { Node } from './syntax/ast.ts';
import { parse } from './syntax/parser.ts';
import { type CelProblem, CelSyntaxError, problemAt } from './syntax/problem.ts';
import { check } from './types/checker.ts';
import type { Environment } from './types/environment.ts';
import type { Type } from './types/type.ts';
import { validateExpression } from './validate.ts';
import { CelError } from './value/error.ts';
import type { Value } from './value/value.ts';

/** What one part of an expression gave. */
export interface CelStep {
  readonly node: Node;
  /** The part as written. */
  readonly source: string;
  readonly value?: Value | undefined;
  /** Set instead of the value. */
  readonly error?: CelError | undefined;
}

export interface CelExpression {
  readonly source: string;
  readonly node: Node;
  /** The static type of the result. */
  readonly type: Type;
  /** Names of the variables that the expression reads. */
  readonly reads: ReadonlySet<string>;
  /** Throws CelError when evaluation fails. */
  evaluate(scope: CelScope): Value;
  /** Evaluates and records what each part gave, innermost first; the last step is the whole expression. */
  trace(scope: CelScope): readonly CelStep[];
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
  return parseAndBuild(source, environment, false);
}

/** Compiles without a type check: all types are known at run time only. */
export function compileUnchecked(source: string, environment: Environment): CelResult {
  return parseAndBuild(source, environment, true);
}

/** Type-checks and compiles a syntax tree, for example one that was rewritten. `source` is for positions. */
export function compileTree(node: Node, source: string, environment: Environment): CelResult {
  return build(node, source, environment, false);
}

function parseAndBuild(source: string, environment: Environment, dynamic: boolean): CelResult {
  try {
    return build(parse(source, environment.macros, environment), source, environment, dynamic);
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error;
    return { expression: undefined, problems: [problemAt(source, error.offset, error.message, error.hint)] };
  }
}

function build(node: Node, source: string, environment: Environment, dynamic: boolean): CelResult {
  const problems: CelProblem[] = [];
  const report = (offset: number, message: string, hint?: string): void => {
    problems.push(problemAt(source, offset, message, hint));
  };
  const checked = check(node, environment, { report, dynamic });
  if (problems.length === 0 && !dynamic) validateExpression(node, checked, environment, report);
  if (problems.length > 0) return refused(problems);
  const newContext = (wrap?: CompileContext['wrap']): CompileContext => ({
    checked,
    scopes: [],
    slots: 0,
    reads: new Set(),
    constants: new Map(),
    wrap,
    report: dynamic ? () => undefined : report,
  });
  const context = newContext();
  const closure = compileNode(node, context);
  if (problems.length > 0) return refused(problems);
  const { slots, reads } = context;
  const newFrame = (scope: CelScope): Frame => ({
    scope,
    effects: scope.effects,
    locals: slots === 0 ? noLocals : new Array<Value>(slots),
  });
  const expression: CelExpression = {
    source,
    node,
    type: checked.type,
    reads,
    evaluate: (scope) => {
      try {
        return closure(newFrame(scope));
      } catch (error) {
        throw withinStack(error);
      }
    },
    trace: (scope) => {
      const recorder = recordSteps(source);
      const recording = compileNode(node, newContext(recorder.wrap));
      try {
        recording(newFrame(scope));
      } catch (error) {
        const reported = withinStack(error);
        if (!(reported instanceof CelError)) throw reported;
      }
      return recorder.steps;
    },
  };
  return { expression, problems: [] };
}

/** Values that nest too deeply, from `json.unmarshal` for example, are an error of the expression. */
function withinStack(error: unknown): unknown {
  return error instanceof RangeError ? new CelError(`a value is too large: ${error.message}`) : error;
}

/** Loops over long lists would record without end. */
const mostSteps = 10_000;

function recordSteps(source: string): {
  readonly steps: CelStep[];
  readonly wrap: NonNullable<CompileContext['wrap']>;
} {
  const steps: CelStep[] = [];
  const record = (node: Node, outcome: Pick<CelStep, 'value' | 'error'>): void => {
    if (steps.length === mostSteps) steps.pop();
    steps.push({ node, source: source.slice(node.start, node.end), ...outcome });
  };
  return {
    steps,
    wrap: (node, closure) => (frame) => {
      try {
        const value = closure(frame);
        record(node, { value });
        return value;
      } catch (error) {
        if (error instanceof CelError) record(node, { error });
        throw error;
      }
    },
  };
}

/** Problems are listed in source order. */
function refused(problems: readonly CelProblem[]): CelResult {
  return { expression: undefined, problems: problems.toSorted((a, b) => a.offset - b.offset) };
}

const noLocals: Value[] = [];
