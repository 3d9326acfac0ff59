import { parseDuration } from '../../expression/duration.ts';
import { parseGoNumber } from '../../expression/go/format.ts';
import { parseVersion } from '../../expression/semver-range.ts';
import { isNumber, type Json } from '../../json/value.ts';
import type { CelText } from '../types.ts';
import { allOf, anyOf, bool, literal, precedence, primary, quote, ternary, text } from './cel-text.ts';
import { decided, total, wholeSeconds } from './equality.ts';
import {
  durationOrder,
  durationTest,
  isDuration,
  isQuantity,
  numberOrder,
  quantityOrder,
  quantityTest,
} from './operands.ts';
import { classOf, type Term } from './term.ts';
import { refuse } from './translation.ts';

const numberSyntax = '^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$';

/** `GreaterThan` and so on: durations, then quantities, numbers and versions. What cannot be compared gives false. */
export function translateComparison(key: Term, operator: string, value: Term, path: string): CelText {
  const { constant } = value;
  if (constant === undefined) {
    if (classOf(key) === 'number' && classOf(value) === 'number') {
      return { ...numberOrder(key, operator, value), total: key.total === true && value.total === true };
    }
    return refuse({ path }, 'the value to compare with is known only at run time');
  }
  switch (classOf(key)) {
    case 'number':
      return total(numberKey(key, operator, constant, path) ?? decided(key, false), key);
    case 'string':
      return total(textKey(key, operator, constant, path) ?? decided(key, false), key);
    case 'unknown':
      return total(unknownKey(key, operator, constant, path) ?? decided(key, false), key);
    default:
      return decided(key, false);
  }
}

function unknownKey(key: Term, operator: string, constant: Json, path: string): CelText | undefined {
  const sound = { ...key, total: true };
  const ofText = textKey(sound, operator, constant, path) ?? bool(false);
  const ofNumber = numberKey(sound, operator, constant, path);
  const isText = text(`type(${key.source}) == string`, 'bool', precedence.relation);
  const guarded = ofNumber === undefined ? bool(false) : allOf([isNumeric(sound), ofNumber]);
  return ternary(isText, ofText, guarded);
}

function isNumeric(key: CelText): CelText {
  const isType = (name: string): CelText => ({
    ...text(`type(${key.source}) == ${name}`, 'bool', precedence.relation),
    total: true,
  });
  return anyOf([isType('int'), isType('double')]);
}

function numberKey(key: Term, operator: string, constant: Json, path: string): CelText | undefined {
  if (isNumber(constant)) return numberOrder(key, operator, literal(constant, path));
  if (typeof constant !== 'string') return undefined;
  const duration = isDuration(constant) ? parseDuration(constant) : undefined;
  if (duration !== undefined) return secondsOrder(key, operator, duration, path);
  const number = parseGoNumber(constant);
  return number === undefined ? undefined : numberOrder(key, operator, literal(number, path));
}

/** A number is a number of whole seconds. */
function secondsOrder(key: CelText, operator: string, nanoseconds: bigint, path: string): CelText {
  if (nanoseconds % 1_000_000_000n !== 0n)
    return refuse({ path }, 'a number is compared with a fraction of a second');
  return numberOrder(
    text(`int(${key.source})`, 'int'),
    operator,
    literal(nanoseconds / 1_000_000_000n, path),
  );
}

function textKey(key: Term, operator: string, constant: Json, path: string): CelText | undefined {
  const sound = { ...key, total: true };
  const asNumber = (order: CelText): CelText =>
    allOf([{ ...text(`${primary(key)}.matches(${quote(numberSyntax)})`, 'bool'), total: true }, order]);
  const number = text(`double(${key.source})`, 'double');
  if (isNumber(constant)) {
    const bound = text(literal(constant, path).source, 'double');
    return ternary(
      durationTest(sound),
      durationOrder(key, operator, `${wholeSeconds(constant)}s`),
      asNumber(numberOrder(number, operator, bound)),
    );
  }
  if (typeof constant !== 'string') return undefined;
  const ofQuantity = isQuantity(constant)
    ? allOf([{ ...quantityTest(sound), total: true }, quantityOrder(key, operator, constant)])
    : undefined;
  if (isDuration(constant)) {
    const duration = parseDuration(constant) ?? 0n;
    return ternary(
      durationTest(sound),
      durationOrder(key, operator, constant),
      ofQuantity ?? asNumber(secondsOrder(number, operator, duration, path)),
    );
  }
  if (ofQuantity !== undefined) return ofQuantity;
  if (parseVersion(constant) === undefined) return undefined;
  return allOf([
    { ...text(`isSemver(${key.source})`, 'bool'), total: true },
    versionOrder(key, operator, constant),
  ]);
}

function versionOrder(key: CelText, operator: string, constant: string): CelText {
  const order = `semver(${key.source}).compareTo(semver(${quote(constant)}))`;
  return text(`${order} ${operator} 0`, 'bool', precedence.relation);
}

/** The Duration… operators. */
export function translateDurationComparison(key: Term, operator: string, value: Term, path: string): CelText {
  const { constant } = value;
  if (constant === undefined)
    return refuse({ path }, 'the duration to compare with is known only at run time');
  const bound = isNumber(constant)
    ? `${wholeSeconds(constant)}s`
    : typeof constant === 'string' && parseDuration(constant) !== undefined
      ? constant
      : undefined;
  if (bound === undefined) return decided(key, false);
  const sound = { ...key, total: true };
  const isZero = { ...text(`${primary(key)} == '0'`, 'bool', precedence.relation), total: true };
  const ofText = (): CelText =>
    allOf([anyOf([isZero, { ...durationTest(sound), total: true }]), durationOrder(key, operator, bound)]);
  const ofNumber = (): CelText => secondsOrder(key, operator, parseDuration(bound) ?? 0n, path);
  switch (classOf(key)) {
    case 'string':
      return total(ofText(), key);
    case 'number':
      return total(ofNumber(), key);
    case 'unknown': {
      const isText = text(`type(${key.source}) == string`, 'bool', precedence.relation);
      return total(ternary(isText, ofText(), allOf([isNumeric(sound), ofNumber()])), key);
    }
    default:
      return decided(key, false);
  }
}
