import { spendSteps } from '../../json/budget.ts';
import { tryParseJson } from '../../json/json-text.ts';
import { isArray, type Json, type JsonArray } from '../../json/value.ts';
import { formatGoValue } from '../go/format.ts';
import { compileWildcard, hasWildcard, matchesWildcard } from '../wildcard.ts';
import { compileOutside, compileTextPattern, rangeEnds, type ValueTest } from './pattern-text.ts';

export type Membership = 'AnyIn' | 'AllIn' | 'AnyNotIn' | 'AllNotIn';
type TextTest = (text: string) => boolean;
type Compare = (key: Json, value: Json) => boolean;

/** The parsed value side. Undefined for types that Kyverno does not support, where every operator is false. */
interface Collection {
  /** Compares an item of a list. Either side may be the wildcard. */
  readonly has: TextTest;
  readonly range?: { readonly inside: ValueTest; readonly outside: ValueTest } | undefined;
  /** Compares a scalar key with a string value. Only the value may be a wildcard. */
  readonly scalarHas: TextTest;
  /** A string value that equals the only element of a list key. */
  readonly text?: string | undefined;
  /** A string value that is JSON but not a list of strings: a key that does not match it literally is neither in it nor out of it. */
  readonly unusable?: true | undefined;
  readonly wrapped?: true | undefined;
}

export function prepareMembership(membership: Membership, constant?: Json): Compare {
  if (constant === undefined) return (key, value) => evaluate(membership, key, collectionOf(value, false));
  const collection = collectionOf(constant, true);
  return (key) => evaluate(membership, key, collection);
}

function evaluate(membership: Membership, key: Json, collection: Collection | undefined): boolean {
  if (collection === undefined || key === null) return false;
  if (isArray(key)) return evaluateList(membership, key.map(formatGoValue), collection);
  if (typeof key === 'object' || collection.wrapped) return false;
  const found = collection.scalarHas(formatGoValue(key));
  if (!found && collection.unusable) return false;
  return membership === 'AnyIn' || membership === 'AllIn' ? found : !found;
}

function evaluateList(membership: Membership, keys: readonly string[], collection: Collection): boolean {
  const { has, range, text, wrapped, unusable } = collection;
  const any = membership === 'AnyIn' || membership === 'AnyNotIn';
  if (wrapped && !any) return false;
  if (keys.length === 1 && keys[0] === text) return membership === 'AnyIn' || membership === 'AllIn';
  if (unusable) return false;
  const inside = range?.inside ?? has;
  switch (membership) {
    case 'AnyIn':
      return keys.some(inside);
    case 'AllIn':
      return keys.every(inside);
    case 'AllNotIn':
      return !keys.some(inside);
    case 'AnyNotIn':
      return range === undefined ? !keys.every(has) : keys.some(range.outside);
  }
}

function collectionOf(value: Json, constant: boolean): Collection | undefined {
  if (isArray(value)) return collectionOfList(value, constant);
  if (typeof value === 'string') return collectionOfText(value);
  if (value === null || typeof value === 'object') return undefined;
  const has = eitherWay([formatGoValue(value)]);
  return { has, scalarHas: has, wrapped: true };
}

function collectionOfList(values: JsonArray, constant: boolean): Collection {
  const texts = values.map(formatGoValue);
  const has = constant ? compileEitherWay(texts) : eitherWay(texts);
  return { has, scalarHas: has };
}

/** A string value is a wildcard, a range, a JSON list of strings, or a single item, in this order. */
function collectionOfText(value: string): Collection {
  const ends = rangeEnds(value);
  if (ends !== undefined) {
    const inside = compileTextPattern(value);
    const outside = compileOutside(ends[0], ends[1]);
    return { has: inside, range: { inside, outside }, scalarHas: inside, text: value };
  }
  const wildcard = compileWildcard(value);
  const items = itemsOfText(value);
  if (items === undefined)
    return { has: wildcard.matches, scalarHas: wildcard.matches, text: value, unusable: true };
  const scalarHas: TextTest = (text) => {
    spendSteps(items.length >> 2);
    return wildcard.matches(text) || items.includes(text);
  };
  return { has: eitherWay(items), scalarHas, text: value };
}

/** Undefined for other JSON: `5`, `true`, `{}`. */
function itemsOfText(value: string): readonly string[] | undefined {
  if (!looksLikeJson.test(value)) return [value];
  const parsed = tryParseJson(value);
  if (parsed === undefined) return [value];
  return parsed === null ? [] : textsOf(parsed);
}

/** Avoids parsing plain words. */
const looksLikeJson = /^\s*(?:[[{"]|-?\d|true\s*$|false\s*$|null\s*$)/;

function textsOfJson(value: string): readonly string[] | undefined {
  return textsOf(tryParseJson(value));
}

function textsOf(parsed: Json | undefined): readonly string[] | undefined {
  if (!isArray(parsed)) return undefined;
  const items = parsed.map((item) => item ?? '');
  return items.every((item) => typeof item === 'string') ? items : undefined;
}

function eitherWay(texts: readonly string[]): TextTest {
  return (text) => texts.some((item) => matchesWildcard(item, text) || matchesWildcard(text, item));
}

function compileEitherWay(texts: readonly string[]): TextTest {
  const literal = new Set(texts);
  const patterns = texts.filter(hasWildcard).map(compileWildcard);
  return (text) =>
    literal.has(text) ||
    patterns.some((pattern) => pattern.matches(text)) ||
    (hasWildcard(text) && texts.some((item) => matchesWildcard(text, item)));
}

/** The deprecated In and NotIn: list keys compare exactly, and only as lists of strings. */
export function prepareOldMembership(negated: boolean): Compare {
  return (key, value) => {
    if (isArray(key)) {
      const items = key.length === 1 && key[0] === value ? key : oldItems(value);
      if (items === undefined || !key.every((item) => typeof item === 'string')) return false;
      spendSteps(key.length * (1 + (items.length >> 2)));
      return key.every((item) => items.includes(item)) !== negated;
    }
    if (key === null || typeof key === 'object') return false;
    const found = oldScalarIn(formatGoValue(key), value);
    return found !== undefined && found !== negated;
  };
}

function oldScalarIn(key: string, value: Json): boolean | undefined {
  if (isArray(value)) return eitherWay(value.map(formatGoValue))(key);
  if (typeof value !== 'string') return undefined;
  if (matchesWildcard(value, key)) return true;
  return textsOfJson(value)?.includes(key);
}

function oldItems(value: Json): JsonArray | undefined {
  if (isArray(value)) return value.every((item) => typeof item === 'string') ? value : undefined;
  return typeof value === 'string' ? textsOfJson(value) : undefined;
}
