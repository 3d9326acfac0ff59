import { parseDuration } from '../../expression/duration.ts';
import { parseQuantity } from '../../expression/quantity.ts';
import type { CelText } from '../types.ts';
import { precedence, primary, quote, text, within } from './cel-text.ts';

/** Go's syntax of durations. A bare `0` is a number. */
const durationSyntax = '^[-+]?(([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+$';

export function isDuration(value: string): boolean {
  return value !== '0' && parseDuration(value) !== undefined;
}

export function isQuantity(value: string): boolean {
  return parseQuantity(value) !== undefined;
}

/** Whether a string is a duration. */
export function durationTest(subject: CelText): CelText {
  return text(`${primary(subject)}.matches(${quote(durationSyntax)})`, 'bool');
}

export function quantityTest(subject: CelText): CelText {
  return text(`isQuantity(${subject.source})`, 'bool');
}

export function durationOrder(subject: CelText, operator: string, bound: string): CelText {
  return text(
    `duration(${subject.source}) ${operator} duration(${quote(bound)})`,
    'bool',
    precedence.relation,
  );
}

export function quantityOrder(subject: CelText, operator: string, bound: string): CelText {
  const [value, other] = [`quantity(${subject.source})`, `quantity(${quote(bound)})`];
  if (operator === '>') return text(`${value}.isGreaterThan(${other})`, 'bool');
  if (operator === '<') return text(`${value}.isLessThan(${other})`, 'bool');
  return text(`${value}.compareTo(${other}) ${operator} 0`, 'bool', precedence.relation);
}

export function numberOrder(subject: CelText, operator: string, bound: CelText): CelText {
  return text(
    `${within(subject, precedence.sum)} ${operator} ${within(bound, precedence.sum)}`,
    'bool',
    precedence.relation,
  );
}

/** Whether a pattern can match a string that is a quantity: only then must quantities be excluded. */
export function canMatchQuantity(pattern: string): boolean {
  return /^[-+0-9.eEinumkKMGTP*?]*$/.test(pattern);
}
