import { parseGoNumber } from '../../expression/go/format.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { isArray, isNumber, isObject, type Json } from '../../json/value.ts';
import type { CelText } from '../types.ts';
import { allOf, asDyn, bool, equalTo, literal, not, precedence, primary, ternary, text } from './cel-text.ts';
import {
  canMatchQuantity,
  durationOrder,
  durationTest,
  isDuration,
  isQuantity,
  quantityOrder,
  quantityTest,
} from './operands.ts';
import { classOf, type Term } from './term.ts';
import { refuse } from './translation.ts';
import { wildcardTest } from './wildcard.ts';

/** Whether the key equals the value: durations and quantities by amount, other strings by pattern. */
export function translateEquals(key: Term, value: Term, path: string): CelText {
  const { constant } = value;
  if (constant === undefined) return equalsDynamic(key, value, path);
  switch (classOf(key)) {
    case 'boolean':
      if (typeof constant !== 'boolean') return decided(key, false);
      return constant ? asBool(key) : not(asBool(key));
    case 'number':
      return equalsNumber(key, constant, path);
    case 'string':
      return equalsText(key, constant);
    case 'list':
      return isArray(constant) ? total(equalTo(key, value), key) : decided(key, false);
    case 'map':
      return isObject(constant) ? total(equalTo(key, value), key) : decided(key, false);
    case 'null':
      return decided(key, false);
    case 'unknown':
      return equalsUnknown(key, constant, path);
  }
}

/** Kyverno does not find null unequal to anything. */
export function translateNotEquals(key: Term, value: Term, path: string): CelText {
  const equals = not(translateEquals(key, value, path));
  if (classOf(key) === 'null') return decided(key, false);
  if (classOf(key) !== 'unknown' || key.notNull === true) return equals;
  return total(
    allOf([total(text(`${primary(key)} != null`, 'bool', precedence.relation), key), equals]),
    key,
  );
}

/** A result that is known although the key is evaluated, which may fail. */
export function decided(key: Term, result: boolean): CelText {
  if (key.total === true) return bool(result);
  return ternary(equalTo(asDyn(key), text('null', 'null')), bool(result), bool(result));
}

export function total(part: CelText, key: Term): CelText {
  return { ...part, total: key.total };
}

function asBool(key: Term): CelText {
  return total(key.type === 'bool' ? key : equalTo(key, text('true', 'bool')), key);
}

function equalsNumber(key: Term, constant: Json, path: string): CelText {
  const number = typeof constant === 'string' ? parseGoNumber(constant) : constant;
  if (!isNumber(number)) return decided(key, false);
  return total(compareNumber(key, number, path), key);
}

/** An int and a double literal cannot be compared if the key has a static type. */
function compareNumber(key: Term, number: number | bigint, path: string): CelText {
  const bound = literal(number, path);
  return equalTo(key, bound);
}

function equalsText(key: Term, constant: Json): CelText {
  if (typeof constant === 'string') return total(textEquals(key, constant), key);
  if (!isNumber(constant)) return decided(key, false);
  return total(
    allOf([total(durationTest(key), key), durationOrder(key, '==', `${wholeSeconds(constant)}s`)]),
    key,
  );
}

/** Numbers are whole seconds. */
export function wholeSeconds(value: number | bigint): string {
  return String(typeof value === 'bigint' ? value : Math.trunc(value));
}

/** The key is a string. */
function textEquals(key: CelText, constant: string): CelText {
  const sound = { ...key, total: true };
  const rest = isQuantity(constant)
    ? allOf([{ ...quantityTest(sound), total: true }, quantityOrder(key, '==', constant)])
    : notQuantity(sound, constant);
  if (!isDuration(constant)) return rest;
  return ternary(durationTest(key), durationOrder(key, '==', constant), rest);
}

function notQuantity(key: CelText, constant: string): CelText {
  const test = wildcardTest(key, constant);
  if (!hasWildcard(constant) || !canMatchQuantity(constant)) return test;
  return allOf([{ ...test, total: true }, not(quantityTest(key))]);
}

function equalsUnknown(key: Term, constant: Json, path: string): CelText {
  if (constant === null) return decided(key, false);
  const direct = total(equalTo(key, literal(constant, path)), key);
  const isText = text(`type(${key.source}) == string`, 'bool', precedence.relation);
  if (isNumber(constant)) {
    return total(ternary(isText, equalsText({ ...key, type: 'dyn', total: true }, constant), direct), key);
  }
  if (typeof constant !== 'string') return direct;
  const isPlain = !hasWildcard(constant) && !isQuantity(constant) && !isDuration(constant);
  if (isPlain) return direct;
  const number = parseGoNumber(constant);
  const ofText = textEquals(key, constant);
  if (number === undefined) return total(allOf([{ ...isText, total: true }, ofText]), key);
  return total(ternary(isText, ofText, equalTo(key, literal(number, path))), key);
}

/** The value is known only at run time. */
function equalsDynamic(key: Term, value: Term, path: string): CelText {
  const [a, b] = [classOf(key), classOf(value)];
  const same = { ...equalTo(key, value), total: key.total === true && value.total === true };
  if (a === b && (a === 'boolean' || a === 'list' || a === 'map' || a === 'number')) return same;
  const isPlain = typeof key.constant === 'string' && !isQuantity(key.constant) && !isDuration(key.constant);
  if (isPlain && b === 'string') return same;
  return refuse(
    { path },
    'the value to compare with is known only at run time, and may be a quantity, a duration or a pattern',
  );
}
