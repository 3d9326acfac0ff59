import { stringifyJson } from '../../json/json-text.ts';
import { isArray, isObject, type Json, type JsonArray, type JsonObject, member } from '../../json/value.ts';
import { parseGoNumber } from '../go/format.ts';
import { compileWildcard, hasWildcard } from '../wildcard.ts';
import { compileTextPattern, type ValueTest } from './pattern-text.ts';

/** `skip`: an anchor condition does not hold, so the enclosing element is ignored instead of failing the match. */
type Verdict = 'match' | 'mismatch' | 'skip';
type Check = (value: Json | undefined) => Verdict;

/** A scalar as a manifest spells it. Anchors compare scalars in this form. */
export function formatScalar(value: Json): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

/**
 * Compiles the value of a condition anchor. Scalars compare as strings, maps and lists recursively by type, where nested
 * anchors keep their meaning. An absent value never matches.
 *
 * @example compilePattern({ runAsUser: '>100' })({ runAsUser: 101 }) // true
 */
export function compilePattern(pattern: Json): (value: Json | undefined) => boolean {
  if (isObject(pattern) || isArray(pattern)) {
    const check = compileCheck(pattern);
    return (value) => value !== undefined && check(value) === 'match';
  }
  const test = compileTextPattern(formatScalar(pattern));
  return (value) => {
    if (value === undefined || isObject(value)) return false;
    return isArray(value) ? value.every(test) : test(formatScalar(value));
  };
}

function compileCheck(pattern: Json): Check {
  if (isObject(pattern)) return compileMap(pattern, false);
  if (isArray(pattern)) return compileList(pattern);
  const test = compileScalar(pattern);
  return (value) => {
    if (value === undefined) return pattern === null ? 'match' : 'mismatch';
    return verdict(isArray(value) ? value.every(test) : test(value));
  };
}

function verdict(matched: boolean): Verdict {
  return matched ? 'match' : 'mismatch';
}

function compileScalar(pattern: null | boolean | number | bigint | string): ValueTest {
  if (typeof pattern === 'string') return compileTextPattern(pattern);
  if (typeof pattern === 'boolean') return (value) => value === pattern;
  if (pattern === null) return (value) => value === null || value === 0 || value === false || value === '';
  return (value) => value === pattern || (typeof value === 'string' && parseGoNumber(value) === pattern);
}

function compileList(pattern: JsonArray): Check {
  const [first] = pattern;
  if (first === undefined) return () => 'mismatch';
  if (isObject(first)) return compileListOfMaps(first);
  if (isArray(first)) return compileListOfLists(pattern);
  const test = compileScalar(first);
  return (value) => verdict(isArray(value) && value.every(test));
}

/** Elements whose anchor condition does not hold are ignored, but at least one element of a non-empty list must match. */
function compileListOfMaps(pattern: JsonObject): Check {
  const check = compileMap(pattern, false);
  return (value) => {
    if (!isArray(value)) return 'mismatch';
    let matched = value.length === 0;
    for (const item of value) {
      const result = check(item);
      if (result === 'mismatch') return 'mismatch';
      if (result === 'match') matched = true;
    }
    return matched ? 'match' : 'skip';
  };
}

function compileListOfLists(pattern: JsonArray): Check {
  const checks = pattern.map(compileCheck);
  return (value) => {
    if (!isArray(value) || value.length < checks.length) return 'mismatch';
    return combine(checks.map((check, index) => check(value[index])));
  };
}

/** `skip` takes precedence over `mismatch`: the pattern does not apply to the element. */
function combine(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('skip')) return 'skip';
  return verdicts.includes('mismatch') ? 'mismatch' : 'match';
}

type Modifier = '' | '<' | '=' | 'X' | '^' | undefined;

/** `(key)` has the modifier `''`; a key without anchor has none. */
function anchorOf(key: string): { readonly modifier: Modifier; readonly name: string } {
  const match = /^([<=X^]?)\((.+)\)$/s.exec(key);
  if (match === null) return { modifier: undefined, name: key };
  return { modifier: match[1] as Modifier, name: match[2] ?? '' };
}

type MapCheck = (object: JsonObject) => Verdict;

function compileMap(pattern: JsonObject, wildcardKeys: boolean): Check {
  const anchored: MapCheck[] = [];
  const plain: MapCheck[] = [];
  for (const [key, value] of Object.entries(pattern)) {
    const { modifier, name } = anchorOf(key);
    const check =
      name === 'metadata' && isObject(value) ? compileMetadata(value) : compileMember(modifier, value);
    const compiled =
      wildcardKeys && hasWildcard(name) ? anyKey(name, modifier, check) : oneKey(name, modifier, check);
    (modifier === undefined ? plain : anchored).push(compiled);
  }
  return (value) => {
    if (!isObject(value)) return 'mismatch';
    const conditions = combine(anchored.map((check) => check(value)));
    if (conditions !== 'match') return conditions;
    for (const check of plain) {
      const result = check(value);
      if (result !== 'match') return result;
    }
    return 'match';
  };
}

/** Below `metadata`, the keys of labels and annotations may be wildcards. */
function compileMetadata(pattern: JsonObject): Check {
  const tags: Record<string, Json> = Object.create(null);
  const rest: Record<string, Json> = Object.create(null);
  for (const [key, value] of Object.entries(pattern)) {
    const { name } = anchorOf(key);
    const isTag = (name === 'labels' || name === 'annotations') && isObject(value);
    (isTag ? tags : rest)[key] = value;
  }
  const others = compileMap(rest, false);
  const tagChecks = Object.entries(tags).map(([key, value]) => {
    const { modifier, name } = anchorOf(key);
    return oneKey(name, modifier, isObject(value) ? compileMap(value, true) : compileCheck(value));
  });
  return (value) => {
    if (!isObject(value)) return 'mismatch';
    return combine([others(value), ...tagChecks.map((check) => check(value))]);
  };
}

function compileMember(modifier: Modifier, pattern: Json): Check {
  if (modifier === '^' && isArray(pattern)) return compileExistence(pattern);
  if (modifier === undefined && pattern === '*') {
    return (value) => verdict(value !== undefined && value !== null);
  }
  return compileCheck(pattern);
}

/** `^(list)`: at least one element matches each pattern item. */
function compileExistence(pattern: JsonArray): Check {
  const checks = pattern.map(compileCheck);
  return (value) => {
    if (!isArray(value)) return 'mismatch';
    return verdict(checks.every((check) => value.some((item) => check(item) === 'match')));
  };
}

function oneKey(name: string, modifier: Modifier, check: Check): MapCheck {
  return (object) => judge(modifier, member(object, name), check);
}

function anyKey(name: string, modifier: Modifier, check: Check): MapCheck {
  const matcher = compileWildcard(name);
  return (object) => {
    const verdicts = Object.keys(object)
      .filter((key) => matcher.matches(key))
      .map((key) => judge(modifier, object[key], check));
    if (verdicts.length === 0) return judge(modifier, undefined, check);
    return verdicts.includes('match') ? 'match' : (verdicts[0] ?? 'mismatch');
  };
}

function judge(modifier: Modifier, value: Json | undefined, check: Check): Verdict {
  switch (modifier) {
    case '':
      return value !== undefined && check(value) === 'match' ? 'match' : 'skip';
    case '<':
      return value === undefined || check(value) === 'match' ? 'match' : 'skip';
    case '=':
    case '^':
      return value === undefined ? 'match' : check(value);
    case 'X':
      return verdict(value === undefined);
    default:
      return check(value);
  }
}
