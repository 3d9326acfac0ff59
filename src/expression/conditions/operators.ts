import type { Json } from '../../json/value.ts';
import { prepareComparison, prepareDurationComparison } from './operators-comparison.ts';
import { prepareEquals } from './operators-equality.ts';
import { prepareMembership, prepareOldMembership } from './operators-membership.ts';

export type PreparedOperator = (key: Json, value: Json) => boolean;
/** Parses a constant value once, at load. */
type Prepare = (constant?: Json) => PreparedOperator;

const operators: ReadonlyMap<string, Prepare> = new Map<string, Prepare>([
  ['Equals', prepareEquals],
  ['Equal', prepareEquals],
  ['NotEquals', prepareNotEquals],
  ['NotEqual', prepareNotEquals],
  ['In', () => prepareOldMembership(false)],
  ['NotIn', () => prepareOldMembership(true)],
  ['AnyIn', (constant) => prepareMembership('AnyIn', constant)],
  ['AllIn', (constant) => prepareMembership('AllIn', constant)],
  ['AnyNotIn', (constant) => prepareMembership('AnyNotIn', constant)],
  ['AllNotIn', (constant) => prepareMembership('AllNotIn', constant)],
  ['GreaterThan', () => prepareComparison((order) => order > 0)],
  ['GreaterThanOrEquals', () => prepareComparison((order) => order >= 0)],
  ['LessThan', () => prepareComparison((order) => order < 0)],
  ['LessThanOrEquals', () => prepareComparison((order) => order <= 0)],
  ['DurationGreaterThan', () => prepareDurationComparison((order) => order > 0)],
  ['DurationGreaterThanOrEquals', () => prepareDurationComparison((order) => order >= 0)],
  ['DurationLessThan', () => prepareDurationComparison((order) => order < 0)],
  ['DurationLessThanOrEquals', () => prepareDurationComparison((order) => order <= 0)],
]);

/** As Kyverno spells them; `Equal` and `NotEqual` are old spellings. */
export const operatorNames: readonly string[] = [...operators.keys()];

const spellings = new Map(operatorNames.map((name) => [name.toLowerCase(), name]));

export function isOperator(name: string): boolean {
  return operators.has(name);
}

/** @example operatorSpelling('greaterthan') // 'GreaterThan' */
export function operatorSpelling(name: string): string | undefined {
  return spellings.get(name.toLowerCase());
}

/** The operator as a function. A constant value is parsed at load. */
export function prepareOperator(operator: string, constant?: Json): PreparedOperator {
  return operators.get(operator)?.(constant) ?? (() => false);
}

const withoutConstant = new Map(operatorNames.map((name) => [name, prepareOperator(name)]));

/** @example evaluateOperator('Equals', '1h', '60m') // true */
export function evaluateOperator(operator: string, key: Json, value: Json): boolean {
  return (withoutConstant.get(operator) ?? prepareOperator(operator))(key, value);
}

function prepareNotEquals(constant?: Json): PreparedOperator {
  const equals = prepareEquals(constant);
  return (key, value) => key !== null && !equals(key, value);
}
