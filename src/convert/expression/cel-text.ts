import { stringifyJson } from '../../json/json-text.ts';
import { isArray, isNumber, isObject, type Json } from '../../json/value.ts';
import { type CelText, type CelType, NotConvertible, refuseLength } from '../types.ts';

/** How tightly the operators of CEL bind. */
export const precedence = { ternary: 1, or: 2, and: 3, relation: 4, sum: 5, unary: 7, primary: 10 } as const;

/** @example text('size(object.spec.containers)', 'int') */
export function text(source: string, type: CelType, level: number = precedence.primary): CelText {
  refuseLength(source);
  return { source, type, precedence: level };
}

/** The source, in parentheses if it binds less tightly than its place needs. */
export function within(part: CelText, level: number): string {
  return part.precedence < level ? `(${part.source})` : part.source;
}

/** As a receiver or an operand of a selection. */
export function primary(part: CelText): string {
  return within(part, precedence.primary);
}

/** A literal string in single quotes. */
export function quote(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to escape.
  const escaped = value.replace(/[\\'\0-\x1f\x7f]/g, (character) => {
    switch (character) {
      case '\n':
        return '\\n';
      case '\r':
        return '\\r';
      case '\t':
        return '\\t';
      case '\\':
      case "'":
        return `\\${character}`;
      default:
        return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    }
  });
  return `'${escaped}'`;
}

const int64Limit = 2n ** 63n;

/** A JSON value as a literal. Lists and maps of mixed types wrap their items in `dyn()`, as Kubernetes wants. */
export function literal(value: Json, path: string): CelText {
  if (value === null) return text('null', 'null');
  if (typeof value === 'string') return text(quote(value), 'string');
  if (typeof value === 'boolean') return text(String(value), 'bool');
  if (isNumber(value)) return numberLiteral(value, path);
  if (isArray(value)) return listText(value.map((item) => literal(item, path)));
  if (!isObject(value)) throw new NotConvertible(path, 'the value has no form in CEL');
  return mapText(
    Object.entries(value).map(([key, item]) => ({
      key: text(quote(key), 'string'),
      value: literal(item, path),
    })),
  );
}

function numberLiteral(value: number | bigint, path: string): CelText {
  if (typeof value === 'bigint' && (value >= int64Limit || value < -int64Limit)) {
    throw new NotConvertible(path, `the number ${value} does not fit into the 64 bits of an int`);
  }
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value);
  const source = stringifyJson(value);
  const level = source.startsWith('-') ? precedence.unary : precedence.primary;
  if (isInteger) return text(source, 'int', level);
  return text(/[.e]/.test(source) ? source : `${source}.0`, 'double', level);
}

export function listText(items: readonly CelText[]): CelText {
  return text(`[${sameType(items).join(', ')}]`, 'list');
}

export interface MapEntryText {
  readonly key: CelText;
  readonly value: CelText;
}

export function mapText(entries: readonly MapEntryText[]): CelText {
  if (entries.length === 0) return text('{}', 'map');
  const values = sameType(entries.map(({ value }) => value));
  return text(
    `{${entries.map(({ key }, index) => `${key.source}: ${values[index] ?? ''}`).join(', ')}}`,
    'map',
  );
}

/** A part whose static type may be the one stated or `dyn`, which depends on the version of the checker. */
interface Part extends CelText {
  readonly uncertain?: boolean | undefined;
}

function isUncertain(part: Part): boolean {
  return part.uncertain === true;
}

/** The sources of items that must have one static type. */
function sameType(items: readonly Part[]): readonly string[] {
  const [first] = items;
  const isSame =
    items.length < 2 ||
    (isScalar(first?.type) && items.every((item) => item.type === first?.type && !isUncertain(item)));
  return items.map((item) => (isSame ? item.source : asDyn(item).source));
}

function isScalar(type: CelType | undefined): boolean {
  return type !== undefined && type !== 'list' && type !== 'map';
}

/** The same value, of a type that the checker does not know. */
export function asDyn(part: Part): CelText {
  if (part.type === 'dyn' && !isUncertain(part)) return part;
  return {
    ...part,
    source: `dyn(${part.source})`,
    type: 'dyn',
    precedence: precedence.primary,
    uncertain: false,
  } as Part;
}

/** The same boolean, of the static type that a condition must have. */
export function asBool(part: Part): CelText {
  if (part.type === 'bool' && !isUncertain(part)) return part;
  return { ...text(`bool(${part.source})`, 'bool'), total: part.total };
}

/** A condition that may know how to write its negation. */
export interface Truth extends CelText {
  readonly negated?: string | undefined;
}

export function not(part: Truth): CelText {
  if (part.negated !== undefined) {
    const { negated, source, ...rest } = part;
    return { ...rest, source: negated, negated: source } as Truth;
  }
  if (part.source === 'true' || part.source === 'false') return bool(part.source === 'false');
  const source = `!${within(part, precedence.unary)}`;
  const negated = part.precedence < precedence.unary ? `(${part.source})` : part.source;
  return { ...text(source, 'bool', precedence.unary), negated, total: part.total } as Truth;
}

export function bool(value: boolean): CelText {
  return { ...text(String(value), 'bool'), total: true };
}

/**
 * All hold, evaluated from left to right as Kyverno does: a failure is a failure, even if a later operand is false. CEL's `&&` forgets it,
 * so that operands that may fail become conditions.
 */
export function allOf(parts: readonly CelText[]): CelText {
  if (parts.some(({ source, total }) => source === 'false' && total === true) && parts.every(isTotal))
    return bool(false);
  const [first, ...rest] = parts.filter(({ source }) => source !== 'true');
  if (first === undefined) return bool(true);
  if (rest.length === 0) return first;
  const others = allOf(rest);
  if (!isTotal(first)) return ternary(first, others, bool(false));
  const source = `${within(first, precedence.and)} && ${within(others, precedence.and)}`;
  return { ...text(source, 'bool', precedence.and), total: isTotal(others) };
}

export function anyOf(parts: readonly CelText[]): CelText {
  const decided = parts.findIndex(({ source }) => source === 'true');
  if (decided >= 0 && parts.slice(0, decided).every(isTotal)) return bool(true);
  const [first, ...rest] = parts.filter(({ source }) => source !== 'false');
  if (first === undefined) return bool(false);
  if (rest.length === 0) return first;
  const others = anyOf(rest);
  if (!isTotal(first)) return ternary(first, bool(true), others);
  const source = `${within(first, precedence.or)} || ${within(others, precedence.or)}`;
  return { ...text(source, 'bool', precedence.or), total: isTotal(others) };
}

function isTotal({ total }: CelText): boolean {
  return total === true;
}

export function ternary(condition: CelText, yes: Part, no: Part): CelText {
  const isSame = yes.type === no.type && isScalar(yes.type);
  const isCertain = !isUncertain(yes) && !isUncertain(no);
  const isFine = isSame || (isCertain && (yes.type === 'dyn' || no.type === 'dyn'));
  const [a, b] = isFine ? [yes, no] : [asDyn(yes), asDyn(no)];
  const source = `${within(condition, precedence.or)} ? ${within(a, precedence.or)} : ${within(b, precedence.ternary)}`;
  return {
    ...text(source, isSame ? yes.type : 'dyn', precedence.ternary),
    total: isTotal(condition) && isTotal(yes) && isTotal(no),
  };
}

/** `a == b`. Types that differ for the checker are compared at run time. */
export function equalTo(a: Part, b: Part): Truth {
  const isCertain = !isUncertain(a) && !isUncertain(b);
  const isFine =
    (a.type === b.type && isScalar(a.type)) || (isCertain && (a.type === 'dyn' || b.type === 'dyn'));
  const [x, y] = isFine ? [a, b] : [asDyn(a), b];
  const [left, right] = [within(x, precedence.sum), within(y, precedence.sum)];
  return {
    ...text(`${left} == ${right}`, 'bool', precedence.relation),
    negated: `${left} != ${right}`,
    total: isTotal(a) && isTotal(b),
  };
}

const identifier = /^(?!(?:true|false|null|in)$)[A-Za-z_][A-Za-z0-9_]*$/;

/** Whether a field can be selected with a dot. */
export function isFieldName(name: string): boolean {
  return identifier.test(name);
}
