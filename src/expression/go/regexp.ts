import { LRUCache } from 'lru-cache';
import { type Matcher, RE2JS } from 're2js';
import { spendSteps, spendText } from '../../json/budget.ts';

/** Bounded, since patterns can come from data. */
const compiled = new LRUCache<string, RE2JS>({
  max: 500,
  // In instructions, some 100 bytes each.
  maxSize: 100_000,
  sizeCalculation: (regexp) => regexp.programSize(),
});
const longestPattern = 10_000;

interface Bounded {
  /** Null for a pattern without a built-in form. */
  readonly regexp: RegExp | null;
  /** Each choice can double the attempts at one position. */
  readonly stepsPerCharacter: number;
}

const bounded = new LRUCache<string, Bounded>({ max: 500 });

function findBounded(pattern: string): Bounded {
  const known = bounded.get(pattern);
  if (known !== undefined) return known;
  const regexp = boundedRegexp(pattern) ?? null;
  const found = { regexp, stepsPerCharacter: regexp === null ? 0 : 1 + ((1 << countChoices(pattern)) >> 2) };
  bounded.set(pattern, found);
  return found;
}

/** A Go regular expression: linear time, no look-around or back references. Throws an Error for bad syntax. */
export function compileRegexp(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (pattern.length > longestPattern)
    throw new Error(`error parsing regexp: longer than ${longestPattern} characters`);
  spendSteps(pattern.length << 8);
  const regexp = RE2JS.compile(pattern);
  compiled.set(pattern, regexp);
  return regexp;
}

export function regexpMatches(pattern: string, text: string): boolean {
  const { regexp, stepsPerCharacter } = findBounded(pattern);
  if (regexp !== null) {
    spendSteps(text.length * stepsPerCharacter);
    regexp.lastIndex = 0;
    return regexp.test(text);
  }
  const general = compileRegexp(pattern);
  chargeSearch(general, text.length);
  return general.matcher(text).find();
}

/** The slowest of the engines of re2js keeps a set of instructions for each character. */
function chargeSearch(regexp: RE2JS, length: number): void {
  spendSteps(length * 24 + ((length * regexp.programSize()) >> 6));
}

/** Replaces every match by the template, in which `$1`, `${1}` and `${name}` stand for groups and `$$` for `$`. */
export function replaceRegexp(pattern: string, text: string, template: string): string {
  const regexp = compileRegexp(pattern);
  return replaceMatches(regexp, text, (matcher) => expandTemplate(template, regexp, matcher));
}

export function replaceRegexpLiteral(pattern: string, text: string, replacement: string): string {
  const { regexp, stepsPerCharacter } = findBounded(pattern);
  if (regexp === null) return replaceMatches(compileRegexp(pattern), text, () => replacement);
  spendSteps(text.length * stepsPerCharacter);
  return replaceBounded(regexp, text, replacement);
}

function replaceBounded(regexp: RegExp, text: string, replacement: string): string {
  let result = '';
  let end = 0;
  regexp.lastIndex = 0;
  for (let match = regexp.exec(text); match !== null; match = regexp.exec(text)) {
    const { index } = match;
    const matchEnd = index + match[0].length;
    spendText(matchEnd - end + replacement.length);
    result += text.slice(end, index);
    if (matchEnd > end || index === 0) result += replacement;
    end = matchEnd;
    if (matchEnd === index) regexp.lastIndex += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
  }
  return result + text.slice(end);
}

/** The start and end of each match. An empty match directly after another match is ignored. */
export function* findSpans(pattern: string, text: string): Generator<readonly [number, number]> {
  const { regexp, stepsPerCharacter } = findBounded(pattern);
  if (regexp === null) {
    for (const matcher of findMatches(compileRegexp(pattern), text)) yield [matcher.start(), matcher.end()];
    return;
  }
  spendSteps(text.length * stepsPerCharacter);
  let from = 0;
  let last = -1;
  for (;;) {
    // Other searches may use the expression before the next match is asked for.
    regexp.lastIndex = from;
    const match = regexp.exec(text);
    if (match === null) return;
    const { index } = match;
    const end = index + match[0].length;
    if (end > last) yield [index, end];
    last = end;
    from = end > index ? end : end + ((text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1);
  }
}

/**
 * Goes through the matches, without empty ones directly after another match. A search may look at all of the rest before
 * it finds a match nearby.
 */
export function* findMatches(regexp: RE2JS, text: string): Generator<Matcher> {
  chargeSearch(regexp, text.length);
  const matcher = regexp.matcher(text);
  let end = -1;
  while (matcher.find()) {
    spendSteps(32 + ((text.length - Math.max(end, 0)) >> 4));
    if (matcher.end() > end) yield matcher;
    end = matcher.end();
  }
}

function replaceMatches(regexp: RE2JS, text: string, replacement: (matcher: Matcher) => string): string {
  let result = '';
  let end = 0;
  for (const matcher of findMatches(regexp, text)) {
    const replaced = replacement(matcher);
    spendText(replaced.length);
    result += text.slice(end, matcher.start()) + replaced;
    end = matcher.end();
  }
  return result + text.slice(end);
}

const reference = /\$(?:\$|\{(\w+)\}|(\w+))/g;

function expandTemplate(template: string, regexp: RE2JS, matcher: Matcher): string {
  if (!template.includes('$')) return template;
  return template.replace(reference, (all, braced: string | undefined, bare: string | undefined) => {
    if (all === '$$') return '$';
    return groupText(braced ?? bare ?? '', regexp, matcher);
  });
}

/** The longest run of word characters is the name: `$1x` is the group named `1x`, which does not exist. */
function groupText(name: string, regexp: RE2JS, matcher: Matcher): string {
  const index = /^\d+$/.test(name) ? Number(name) : groupIndex(regexp, name);
  if (index === undefined || index > matcher.groupCount()) return '';
  return matcher.group(index) ?? '';
}

function groupIndex(regexp: RE2JS, name: string): number | undefined {
  const groups: Readonly<Record<string, number>> = regexp.namedGroups();
  return Object.hasOwn(groups, name) ? groups[name] : undefined;
}

/**
 * The built-in form of a Go regular expression that does bounded work at each position of its input: letters,
 * escaped punctuation, `.`, groups, alternatives and `?`, no repetition. Both engines find the same match, and the
 * built-in one is ten times faster. Undefined for every other pattern.
 */
export function boundedRegexp(pattern: string): RegExp | undefined {
  if (pattern.length > longestSimplePattern || !onlyBoundedParts.test(pattern)) return undefined;
  if (countChoices(pattern) > mostChoices) return undefined;
  try {
    // In Go a dot excludes only line feeds; in JavaScript it excludes other line terminators too.
    return new RegExp(
      pattern.replaceAll(/\\.|\./g, (part) => (part === '.' ? '[^\\n]' : part)),
      'gu',
    );
  } catch {
    return undefined;
  }
}

function countChoices(pattern: string): number {
  let choices = 0;
  for (const character of pattern) if (character === '?' || character === '|') choices++;
  return choices;
}

const longestSimplePattern = 200;
/** Each can double the attempts at one position. */
const mostChoices = 8;

const onlyBoundedParts = (() => {
  const escaped = String.raw`\\[.+*?()|[\]{}^$\\/]`;
  const plain = `[A-Za-z0-9 _/:@,=<>#%&~;'"!-]`;
  const atom = String.raw`(?:${escaped}|${plain}|\.|\))\??`;
  const opening = String.raw`\((?:\?:)?`;
  return new RegExp(String.raw`^\^?(?:${atom}|${opening}|\|)+\$?$`);
})();
