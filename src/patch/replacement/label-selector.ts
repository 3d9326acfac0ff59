import { isLabelValue, isQualifiedName } from '../../expression/object-name.ts';
import { isObject, type Json, type JsonObject } from '../../json/value.ts';
import { FieldPathError } from '../field-path/field-path.ts';

/** Tests labels or annotations. */
export type LabelTest = (labels: JsonObject) => boolean;

export interface LabelSelectorOptions {
  /** Keys and values must be valid Kubernetes labels, which kustomize requires even of annotations. */
  readonly strict?: boolean | undefined;
}

/**
 * Parses Kubernetes label selector strings: `a=b`, `a!=b`, `a in (x,y)`, `a notin (x)`, `a>1`, `a`, `!a`, joined by
 * commas. A map is a list of equalities with arbitrary values. Throws FieldPathError for anything else.
 */
export function parseLabelSelector(selector: Json, options: LabelSelectorOptions = {}): LabelTest {
  if (isObject(selector)) {
    return all(Object.entries(selector).map(([key, value]) => oneOf(key, [String(value)], true)));
  }
  const tokens = tokensOf(String(selector));
  if (tokens.length === 0) return () => true;
  const tests: LabelTest[] = [];
  const reader: Reader = { tokens, at: 0, check: options.strict === true ? checkLabel : () => {} };
  for (;;) {
    tests.push(readRequirement(reader));
    const next = take(reader);
    if (next === undefined) return all(tests);
    if (next !== ',') throw new FieldPathError(`found '${next}', expected: ',' or 'end of string'`);
    const following = reader.tokens[reader.at];
    if (following !== '!' && !isWord(following)) {
      throw new FieldPathError(`found '${following ?? ''}', expected: identifier after ','`);
    }
  }
}

interface Reader {
  readonly tokens: readonly string[];
  at: number;
  check(what: 'key' | 'value', text: string): void;
}

function tokensOf(text: string): readonly string[] {
  return text.match(/==|!=|[=!<>(),]|[^\s=!<>(),]+/g) ?? [];
}

function isWord(token: string | undefined): token is string {
  return token !== undefined && !/^[=!<>(),]/.test(token);
}

function take(reader: Reader): string | undefined {
  return reader.tokens[reader.at++];
}

function readRequirement(reader: Reader): LabelTest {
  const first = take(reader);
  const negated = first === '!';
  const key = negated ? take(reader) : first;
  if (!isWord(key)) throw unparsed(`found '${key ?? ''}', expected: identifier`);
  reader.check('key', key);
  const next = reader.tokens[reader.at];
  if (negated || next === undefined || next === ',')
    return (labels) => Object.hasOwn(labels, key) !== negated;
  reader.at++;
  switch (next) {
    case '=':
    case '==':
      return oneOf(key, [readValue(reader)], true);
    case '!=':
      return oneOf(key, [readValue(reader)], false);
    case 'in':
    case 'notin':
      return oneOf(key, readValues(reader), next === 'in');
    case '<':
    case '>':
      return compare(key, readNumber(reader), next === '>');
    default:
      throw unparsed(`found '${next}', expected: in, notin, =, ==, !=, <, >`);
  }
}

/** A value is empty before a comma or at the end. */
function readValue(reader: Reader): string {
  const next = reader.tokens[reader.at];
  if (next === undefined || next === ',') return '';
  reader.at++;
  if (!isWord(next)) throw unparsed(`found '${next}', expected: identifier`);
  reader.check('value', next);
  return next;
}

function readValues(reader: Reader): readonly string[] {
  const open = take(reader);
  if (open !== '(') throw unparsed(`found '${open ?? ''}' expected: '('`);
  const values: string[] = [];
  let value = '';
  for (;;) {
    const token = take(reader);
    if (isWord(token) && value === '') {
      reader.check('value', token);
      value = token;
    } else if (token === ',' || token === ')') {
      values.push(value);
      value = '';
      if (token === ')') return values;
    } else {
      throw unparsed(`found '${token ?? ''}', expected: ',' or ')'`);
    }
  }
}

function readNumber(reader: Reader): number {
  const text = readValue(reader);
  if (!/^[-+]?\d+$/.test(text)) throw unparsed(`'${text}' must be an integer after < or >`);
  return Number(text);
}

function all(tests: readonly LabelTest[]): LabelTest {
  return (labels) => tests.every((test) => test(labels));
}

/** An absent label satisfies `notin`. */
function oneOf(key: string, values: readonly string[], wanted: boolean): LabelTest {
  const set = new Set(values);
  return (labels) => (Object.hasOwn(labels, key) && set.has(String(labels[key]))) === wanted;
}

function compare(key: string, limit: number, greater: boolean): LabelTest {
  return (labels) => {
    const text = Object.hasOwn(labels, key) ? String(labels[key]) : '';
    if (!/^[-+]?\d+$/.test(text)) return false;
    return greater ? Number(text) > limit : Number(text) < limit;
  };
}

function checkLabel(what: 'key' | 'value', text: string): void {
  const isValid = what === 'key' ? isQualifiedName(text) : isLabelValue(text);
  if (!isValid) throw unparsed(`'${text}' is not a valid label ${what}`);
}

function unparsed(reason: string): FieldPathError {
  return new FieldPathError(`unable to parse requirement: ${reason}`);
}
