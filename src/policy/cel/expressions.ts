import type { CelExpression, CelResult } from '../../cel/expression.ts';
import type { CelProblem } from '../../cel/syntax/problem.ts';
import { formatType, type Type } from '../../cel/types/type.ts';
import type { Path } from '../../json/value.ts';
import type { Reporter } from '../../problem.ts';

/** The type that an expression must have, by its place in the policy. */
export type ExpectedType = 'bool' | 'list(JSONPatch)' | 'Object' | 'string' | 'map(string, any)';

const hints: Readonly<Record<ExpectedType, string>> = {
  bool: 'Compare with ==, or wrap a value of an unknown type: bool(…) or … == true.',
  'list(JSONPatch)': 'Write [JSONPatch{op: …, path: …, value: …}].',
  Object: 'Write Object{…}; a map literal is not enough.',
  string: 'Convert with string(…).',
  'map(string, any)': 'Use resource.Get(…) or resource.List(…).',
};

function fits(type: Type, expected: ExpectedType): boolean {
  if (expected === 'string' && type.kind === 'null') return true;
  return formatType(type) === expected;
}

/** An expression of the other form of mutation. */
function otherPatchType(type: string, expected: ExpectedType): string | undefined {
  if (expected === 'Object' && (type === 'list(JSONPatch)' || type === 'JSONPatch'))
    return 'Set patchType to JSONPatch, and write the expression under jsonPatch.';
  if (expected === 'list(JSONPatch)' && type === 'Object')
    return 'Set patchType to ApplyConfiguration, and write the expression under applyConfiguration.';
  if (type === 'list(dyn)')
    return 'An empty list has no type: leave the mutation out, or filter a list of JSONPatch{…}.';
  return undefined;
}

/** Reports the problems of an expression at their own lines and columns. Undefined if there are any. */
export function typedExpression(
  result: CelResult,
  expected: ExpectedType | undefined,
  path: Path,
  reporter: Reporter,
): CelExpression | undefined {
  if (result.expression === undefined) {
    reportProblems(result.problems, path, reporter);
    return undefined;
  }
  const { expression } = result;
  if (expected !== undefined && !fits(expression.type, expected)) {
    const name = expected === 'string' ? 'string or null' : expected;
    const message = `output is expected to be of type ${name}, but the expression is of type ${formatType(expression.type)}`;
    const hint = otherPatchType(formatType(expression.type), expected) ?? hints[expected];
    reporter.error(path, 'KYM_CEL_INVALID', message, hint, 0);
    return undefined;
  }
  return expression;
}

export function reportProblems(problems: readonly CelProblem[], path: Path, reporter: Reporter): void {
  for (const { message, hint, offset } of problems) {
    reporter.error(path, 'KYM_CEL_INVALID', message, hint, offset);
  }
}
