import { compileRegexp } from '../expression/go/regexp.ts';
import { clauseError, clauseTypes, type FormatClause, parseFormat } from './library/format-text.ts';
import { type CallNode, childrenOf, type ListNode, type MapNode, type Node } from './syntax/ast.ts';
import type { Checked } from './types/checker.ts';
import type { Environment } from './types/environment.ts';
import { formatType, isDyn, optionalValue, sameType, type Type } from './types/type.ts';
import { CelError } from './value/error.ts';
import type { Value } from './value/value.ts';

type Report = (offset: number, message: string, hint?: string) => void;

/**
 * What Kubernetes refuses beyond type errors: list and map literals of mixed types, literal durations, timestamps and
 * regular expressions that do not parse, and format strings that do not fit their arguments.
 */
export function validateExpression(
  root: Node,
  checked: Checked,
  environment: Environment,
  report: Report,
): void {
  const visit = (node: Node, inFormat: boolean): void => {
    const isFormat = node.kind === 'call' && node.name === 'format' && node.target !== undefined;
    if (environment.homogeneousLiterals && !inFormat) {
      if (node.kind === 'list') validateList(node, checked, report);
      else if (node.kind === 'map') validateMap(node, checked, report);
    }
    if (node.kind === 'call') validateCall(node, checked, environment, report);
    for (const child of childrenOf(node)) visit(child, inFormat || isFormat);
  };
  visit(root, false);
}

const mixedHint = 'Give all entries one type, or wrap each in dyn(…).';

function mismatch(node: Node, expected: Type, found: Type, report: Report): void {
  report(node.offset, `expected type '${formatType(expected)}' but found '${formatType(found)}'`, mixedHint);
}

function entryType(node: Node, optional: boolean, checked: Checked): Type {
  const type = checked.typeOf(node);
  return optional ? (optionalValue(type) ?? type) : type;
}

function validateList(node: ListNode, checked: Checked, report: Report): void {
  let expected: Type | undefined;
  for (const { value, optional } of node.elements) {
    const type = entryType(value, optional, checked);
    expected ??= type;
    if (!sameType(expected, type)) {
      mismatch(value, expected, type, report);
      return;
    }
  }
}

function validateMap(node: MapNode, checked: Checked, report: Report): void {
  let expected: readonly [Type, Type] | undefined;
  for (const { key, value, optional } of node.entries) {
    const types = [checked.typeOf(key), entryType(value, optional, checked)] as const;
    expected ??= types;
    if (!sameType(expected[0], types[0])) mismatch(key, expected[0], types[0], report);
    if (!sameType(expected[1], types[1])) mismatch(value, expected[1], types[1], report);
  }
}

function validateCall(node: CallNode, checked: Checked, environment: Environment, report: Report): void {
  const { name, target, args } = node;
  if ((name === 'duration' || name === 'timestamp') && target === undefined) {
    const [literal] = args;
    if (literal?.kind === 'literal' && !converts(name, literal.value, environment)) {
      report(literal.offset, `invalid ${name} argument`, conversionHints[name]);
    }
  }
  if (name === 'matches' || ((name === 'find' || name === 'findAll') && target !== undefined)) {
    const literal = target === undefined ? args[1] : args[0];
    if (literal?.kind === 'literal' && typeof literal.value === 'string' && !isRegexp(literal.value)) {
      report(literal.offset, `invalid ${name} argument`, 'Write a regular expression that RE2 supports.');
    }
  }
  if (name === 'format' && target?.kind === 'literal' && typeof target.value === 'string') {
    const [list] = args;
    if (list?.kind === 'list') validateFormat(node, target.value, list, checked, environment, report);
  }
}

const conversionHints: Readonly<Record<string, string>> = {
  duration: 'Write a duration such as "1h30m" or "45s"; days have no unit.',
  timestamp: 'Write an RFC 3339 timestamp such as "2024-01-31T00:00:00Z".',
};

function converts(name: string, value: Value, environment: Environment): boolean {
  if (value === null) return false;
  const kind = typeof value === 'string' ? 'string' : 'int';
  const overload = environment.functions
    .get(name)
    ?.overloads.find(({ parameters }) => parameters[0]?.kind === kind);
  try {
    (overload?.call as ((value: Value) => Value) | undefined)?.(value);
    return true;
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

function isRegexp(pattern: string): boolean {
  try {
    compileRegexp(pattern);
    return true;
  } catch {
    return false;
  }
}

function validateFormat(
  node: CallNode,
  format: string,
  list: ListNode,
  checked: Checked,
  environment: Environment,
  report: Report,
): void {
  let clauses: readonly FormatClause[];
  try {
    clauses = parseFormat(format, list.elements.length).filter((part) => typeof part !== 'string');
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    report(node.offset, error.message);
    return;
  }
  const style = environment.homogeneousLiterals ? 'kubernetes' : 'standard';
  for (const [index, { letter }] of clauses.entries()) {
    const argument = list.elements[index]?.value as Node;
    const wrong = firstUnfit(argument, clauseTypes(letter, style), checked, letter === 's');
    if (wrong !== undefined) {
      report(wrong.offset, clauseError(letter, checked.typeOf(wrong).name, style));
      return;
    }
  }
  if (list.elements.length > clauses.length) {
    const message = `too many arguments supplied to string.format (expected ${clauses.length}, got ${list.elements.length})`;
    report(node.offset, message);
  }
}

/** The first node, inside of list and map literals too when `deep` is set, whose type is not among the kinds. */
function firstUnfit(node: Node, kinds: readonly string[], checked: Checked, deep: boolean): Node | undefined {
  const type = checked.typeOf(node);
  if (!isDyn(type) && !kinds.includes(type.kind)) return node;
  if (!deep || (node.kind !== 'list' && node.kind !== 'map')) return undefined;
  for (const child of childrenOf(node)) {
    const wrong = firstUnfit(child, kinds, checked, deep);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
