import { spendSteps } from '../../json/budget.ts';
import type { Json } from '../../json/value.ts';
import { parseDuration } from '../duration.ts';
import { formatGoExponent } from '../go/format.ts';
import { compareQuantities, parseQuantity } from '../quantity.ts';
import { compileWildcard } from '../wildcard.ts';

export type ValueTest = (value: Json) => boolean;

type Comparison = '' | '!' | '>' | '<' | '>=' | '<=';

const end = '([-+]?\\d+(?:\\.\\d+)?[A-Za-z]*)';
const rangeSyntax = new RegExp(`^${end}-${end}$`);
const outsideRangeSyntax = new RegExp(`^${end}!-${end}$`);

/** Both ends of the range `lo-hi`, or undefined. */
export function rangeEnds(text: string): readonly [string, string] | undefined {
  const match = rangeSyntax.exec(text);
  return match === null ? undefined : [match[1] ?? '', match[2] ?? ''];
}

/**
 * Kyverno's pattern language: alternatives by `|`, conjunctions by `&`, each item `>=1`, `<5m`, `!x*`, `1-10`,
 * `1!-10` or a wildcard. An operand is a duration if it parses as one, else a quantity, else a string.
 *
 * @example compileTextPattern('1-10 | !5*')('7') // true
 */
export function compileTextPattern(pattern: string): ValueTest {
  spendSteps(pattern.length);
  const alternatives = pattern.split('|').map((part) => {
    const terms = trimBlanks(part)
      .split('&')
      .map((term) => compileTerm(trimBlanks(term)));
    const [first] = terms;
    return terms.length === 1 && first !== undefined
      ? first
      : (value: Json) => terms.every((term) => term(value));
  });
  const matches = anyOf(alternatives);
  return (value) => {
    spendSteps(2);
    return value === pattern || matches(value);
  };
}

/** Most patterns have one alternative. */
function anyOf(alternatives: readonly ValueTest[]): ValueTest {
  const [only] = alternatives;
  return alternatives.length === 1 && only !== undefined
    ? only
    : (value) => alternatives.some((alternative) => alternative(value));
}

/** Not a regular expression: ` +$` takes quadratic time for blanks inside the string. */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text.charCodeAt(start) === 0x20) start++;
  while (end > start && text.charCodeAt(end - 1) === 0x20) end--;
  return text.slice(start, end);
}

function compileTerm(term: string): ValueTest {
  const comparison = comparisonOf(term);
  if (comparison !== '') return compileComparison(comparison, term.slice(comparison.length).trim());
  const outside = outsideRangeSyntax.exec(term);
  if (outside !== null) return compileOutside(outside[1] ?? '', outside[2] ?? '');
  const inside = rangeEnds(term);
  if (inside === undefined) return compileComparison('', term.trim());
  const [low, high] = [compileComparison('>=', inside[0]), compileComparison('<=', inside[1])];
  return (value) => low(value) && high(value);
}

export function compileOutside(lowEnd: string, highEnd: string): ValueTest {
  const [low, high] = [compileComparison('<', lowEnd), compileComparison('>', highEnd)];
  return (value) => low(value) || high(value);
}

/** A single character is always an operand, even `>`. */
function comparisonOf(term: string): Comparison {
  if (term.length < 2) return '';
  const first = term[0];
  if (first === '!') return '!';
  if (first !== '>' && first !== '<') return '';
  return term[1] === '=' ? `${first}=` : first;
}

function compileComparison(comparison: Comparison, operand: string): ValueTest {
  const duration = parseDuration(operand);
  const quantity = parseQuantity(operand);
  const wildcard = compileWildcard(operand);
  return (value) => {
    spendSteps(2);
    if (duration !== undefined || quantity !== undefined) {
      const text = measurableText(value);
      const valueDuration = duration === undefined || text === undefined ? undefined : parseDuration(text);
      if (duration !== undefined && valueDuration !== undefined) {
        return accepts(comparison, valueDuration < duration ? -1 : valueDuration > duration ? 1 : 0);
      }
      const valueQuantity = quantity === undefined || text === undefined ? undefined : parseQuantity(text);
      if (quantity !== undefined && valueQuantity !== undefined) {
        return accepts(comparison, compareQuantities(valueQuantity, quantity));
      }
    }
    if (comparison !== '' && comparison !== '!') return false;
    const text = wildcardText(value);
    return text !== undefined && wildcard.matches(text) === (comparison === '');
  };
}

function accepts(comparison: Comparison, order: number): boolean {
  switch (comparison) {
    case '':
      return order === 0;
    case '!':
      return order !== 0;
    case '>':
      return order > 0;
    case '<':
      return order < 0;
    case '>=':
      return order >= 0;
    case '<=':
      return order <= 0;
  }
}

/** The string to parse as a duration or quantity. Null is zero, and numbers have six decimal places, as in Kyverno. */
function measurableText(value: Json): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return value.toFixed(6);
  if (typeof value === 'bigint') return String(value);
  return value === null ? '0' : undefined;
}

function wildcardText(value: Json): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return formatGoExponent(value);
  if (typeof value === 'bigint') return formatGoExponent(Number(value));
  return typeof value === 'boolean' ? String(value) : undefined;
}
