import { rangeEnds } from '../../expression/conditions/pattern-text.ts';
import { formatGoValue, parseGoNumber } from '../../expression/go/format.ts';
import { hasWildcard } from '../../expression/wildcard.ts';
import { tryParseJson } from '../../json/json-text.ts';
import { isArray, type Json } from '../../json/value.ts';
import type { CelText } from '../types.ts';
import {
  anyOf,
  asBool,
  asDyn,
  bool,
  equalTo,
  literal,
  not,
  precedence,
  primary,
  text,
  within,
} from './cel-text.ts';
import { decided, total } from './equality.ts';
import { classOf, orDefault, type Term } from './term.ts';
import { isTotal, refuse } from './translation.ts';
import { wildcardTest } from './wildcard.ts';

/** Any or all items of the key are in the value, or are not. */
export interface Membership {
  readonly every: boolean;
  readonly negated: boolean;
}

export const memberships: ReadonlyMap<string, Membership> = new Map([
  ['AnyIn', { every: false, negated: false }],
  ['AllIn', { every: true, negated: false }],
  ['AnyNotIn', { every: false, negated: true }],
  ['AllNotIn', { every: true, negated: true }],
]);

export function translateMembership(key: Term, membership: Membership, value: Term, path: string): CelText {
  const { constant } = value;
  if (constant === undefined) return inDynamicList(key, membership, value, path);
  const items = itemsOf(constant, path);
  return overKey(key, membership, path, {
    ofText: (subject) => inTexts(subject, items, path),
    ofOther: (subject) => inOthers(subject, items, path),
  });
}

interface Tests {
  /** The key or its item is a string. */
  readonly ofText: (subject: CelText) => CelText;
  /** A number or boolean. */
  readonly ofOther: (subject: Term) => CelText;
}

function overKey(
  key: Term,
  { every, negated }: Membership,
  path: string,
  { ofText, ofOther }: Tests,
): CelText {
  const polarity = (part: CelText): CelText => {
    const test = negated ? not(part) : part;
    return test.source === 'true' || test.source === 'false' ? decided(key, test.source === 'true') : test;
  };
  switch (classOf(key)) {
    case 'string':
      return total(polarity(ofText(key)), key);
    case 'number':
    case 'boolean':
      return total(polarity(ofOther(key)), key);
    case 'list': {
      const items = key.schema?.kind === 'list' ? key.schema.items : undefined;
      if (items?.kind !== 'scalar' || items.scalar !== 'string') {
        return refuse({ path }, 'the type of the items of the key is not known');
      }
      const test = ofText({ ...text('item', 'dyn'), total: true });
      const single = /^item == ('(?:[^'\\]|\\.)*')$/.exec(test.source)?.[1];
      if (single !== undefined && every === negated) {
        const container = key.keysOf ?? key;
        const found = text(`${single} in ${primary(container)}`, 'bool', precedence.relation);
        return total(polarity(found), key);
      }
      const macro = every ? 'all' : 'exists';
      return total(text(`${primary(key)}.${macro}(item, ${polarity(test).source})`, 'bool'), key);
    }
    case 'map':
    case 'null':
      return decided(key, false);
    case 'unknown':
      return refuse(
        { path },
        'the type of the key is not known: Kyverno compares lists item by item, and numbers as strings',
      );
  }
}

/** A string is a list in JSON, a range, or one item. */
function itemsOf(constant: Json, path: string): readonly string[] {
  if (isArray(constant)) return constant.map(formatGoValue);
  if (typeof constant !== 'string') return refuse({ path }, 'the value is neither a list nor a string');
  if (rangeEnds(constant) !== undefined) return refuse({ path }, 'the value is a range');
  const parsed = tryParseJson(constant);
  if (parsed === undefined) return [constant];
  if (isArray(parsed) && parsed.every((item) => typeof item === 'string'))
    return [constant, ...(parsed as readonly string[])];
  return refuse({ path }, 'the value is a string that is JSON');
}

function inTexts(subject: CelText, items: readonly string[], path: string): CelText {
  const patterns = items.filter(hasWildcard).map((item) => ({ ...wildcardTest(subject, item), total: true }));
  const plain = [...new Set(items.filter((item) => !hasWildcard(item)))];
  const [only] = plain;
  const exact =
    plain.length === 1 && only !== undefined
      ? { ...equalTo(subject, literal(only, path)), total: true }
      : {
          ...text(
            `${within(subject, precedence.sum)} in ${literal(plain, path).source}`,
            'bool',
            precedence.relation,
          ),
          total: true,
        };
  return anyOf(plain.length === 0 ? patterns : [exact, ...patterns]);
}

/** Numbers and booleans are compared as strings. */
function inOthers(subject: Term, items: readonly string[], path: string): CelText {
  if (items.some(hasWildcard)) return inTexts(text(`string(${subject.source})`, 'string'), items, path);
  if (classOf(subject) === 'boolean')
    return inTexts(text(`string(${subject.source})`, 'string'), items, path);
  const numbers = items.flatMap((item) => {
    const number = parseGoNumber(item);
    return number !== undefined && formatGoValue(number) === item ? [number] : [];
  });
  if (numbers.length === 0) return bool(false);
  return text(
    `${within(subject, precedence.sum)} in ${literal(numbers, path).source}`,
    'bool',
    precedence.relation,
  );
}

/** The value is a list of strings that is known only at run time. */
function inDynamicList(key: Term, membership: Membership, value: Term, path: string): CelText {
  if (classOf(value) !== 'list') return refuse({ path }, 'it is not known whether the value is a list');
  const items = value.schema?.kind === 'list' ? value.schema.items : undefined;
  const isStrings = items?.kind === 'scalar' && items.scalar === 'string';
  const isWord =
    typeof key.constant === 'string' &&
    parseGoNumber(key.constant) === undefined &&
    !/^(?:true|false|<nil>|\[.*|map.*)$/s.test(key.constant);
  if (!isStrings && !isWord) return refuse({ path }, 'the type of the items of the value is not known');
  if (typeof key.constant === 'string' && hasWildcard(key.constant))
    return refuse({ path }, 'the key is a pattern for a list that is known only at run time');
  if (!isTotal(value) && (classOf(key) === 'map' || classOf(key) === 'null')) {
    return refuse({ path }, 'the condition is false unless its value fails');
  }
  const container = value.keysOf ?? value;
  const build = (list: CelText): CelText =>
    overKey(key, membership, path, {
      ofText: (subject) => ({
        ...text(
          `${within(isStrings ? subject : asDyn(subject), precedence.sum)} in ${primary(list)}`,
          'bool',
          precedence.relation,
        ),
        total: true,
      }),
      ofOther: () =>
        refuse({ path }, 'a number or boolean is looked up in a list that is known only at run time'),
    });
  // In a list that is null nothing is, and nothing is not.
  if (value.optional === undefined || value.missing !== 'null') {
    const test = build(container);
    return { ...test, total: key.total === true && value.total === true };
  }
  if (!membership.negated && classOf(key) === 'string') return build(orDefault(value, '[]'));
  // In Kyverno, the static type of `orValue()` is always `dyn`.
  const found = text(
    `${value.optional}.optMap(list, ${build(text('list', 'dyn')).source}).orValue(false)`,
    'dyn',
  );
  return total(asBool(found), key);
}

/** The old operators `In` and `NotIn`. */
export function translateOldMembership(key: Term, negated: boolean, value: Term, path: string): CelText {
  if (classOf(key) === 'string' && (isArray(value.constant) || value.constant === undefined)) {
    return translateMembership(key, { every: true, negated }, value, path);
  }
  const items = value.constant;
  const isTexts = isArray(items) && items.every((item) => typeof item === 'string');
  if (classOf(key) !== 'list' || !isTexts)
    return refuse({ path }, 'the operator compares lists of strings only, and the types are not known');
  const keyItems = key.schema?.kind === 'list' ? key.schema.items : undefined;
  if (keyItems?.kind !== 'scalar' || keyItems.scalar !== 'string')
    return refuse({ path }, 'the type of the items of the key is not known');
  const test = text(`${primary(key)}.all(item, item in ${literal(items, path).source})`, 'bool');
  return total(negated ? not(test) : test, key);
}
