import { BudgetError, spendSteps } from '../json/budget.ts';

/** A compiled `*`/`?` pattern over whole strings. */
export interface TextMatcher {
  readonly pattern: string;
  /** The pattern contains no wildcard and matches only itself. */
  readonly literal: boolean;
  matches(text: string): boolean;
}

export function hasWildcard(text: string): boolean {
  return text.includes('*') || text.includes('?');
}

/**
 * `*` is any run of characters, `?` exactly one character (a surrogate pair is one); there is no escape.
 * The text between stars is searched leftmost first, which never has to be taken back.
 *
 * @example compileWildcard('nginx:*').matches('nginx:1.27') // true
 */
export function compileWildcard(pattern: string): TextMatcher {
  if (!hasWildcard(pattern)) return { pattern, literal: true, matches: (text) => text === pattern };
  spendSteps(32 + (pattern.length >> 2));
  const matches = compileSegments(pattern.replace(/\*{2,}/g, '*').split('*'));
  return {
    pattern,
    literal: false,
    matches(text) {
      spendSteps(1 + (text.length >> 5));
      return matches(text);
    },
  };
}

/** For patterns that are themselves data, where compiling would cost more than one match. */
export function matchesWildcard(pattern: string, text: string): boolean {
  spendSteps(1 + (pattern.length >> 5));
  if (pattern === text || pattern === '*') return true;
  if (!hasWildcard(pattern)) return false;
  if (pattern.length > longestPattern) {
    throw new BudgetError(`a wildcard pattern is longer than ${longestPattern} characters`);
  }
  return compileWildcard(pattern).matches(text);
}

const longestPattern = 10_000;

function compileSegments(segments: readonly string[]): (text: string) => boolean {
  const [prefix = '', ...rest] = segments;
  const suffix = rest.pop();
  if (suffix === undefined) return (text) => matchForward(prefix, text, 0) === text.length;
  const plain = !segments.some((segment) => segment.includes('?'));
  if (plain && rest.length === 0) return compileEnds(prefix, suffix);
  if (plain && rest.length === 1 && prefix === '' && suffix === '') {
    const infix = rest[0] ?? '';
    return (text) => text.includes(infix);
  }
  return (text) => matchSegments(prefix, rest, suffix, text);
}

function compileEnds(prefix: string, suffix: string): (text: string) => boolean {
  if (prefix === '' && suffix === '') return () => true;
  if (suffix === '') return (text) => text.startsWith(prefix);
  if (prefix === '') return (text) => text.endsWith(suffix);
  const shortest = prefix.length + suffix.length;
  return (text) => text.length >= shortest && text.startsWith(prefix) && text.endsWith(suffix);
}

function matchSegments(prefix: string, middle: readonly string[], suffix: string, text: string): boolean {
  const end = matchBackward(suffix, text);
  let position = matchForward(prefix, text, 0);
  if (position < 0 || end < position) return false;
  for (const segment of middle) {
    spendSteps(1);
    position = findSegment(segment, text, position);
    if (position < 0 || position > end) return false;
  }
  return true;
}

/** The end of the segment's first occurrence at or after `from`, or -1. */
function findSegment(segment: string, text: string, from: number): number {
  if (!segment.includes('?')) {
    const start = text.indexOf(segment, from);
    // A periodic text makes the search look at the whole segment for each character.
    spendSteps((((start < 0 ? text.length : start) - from) * (1 + (segment.length >> 6))) >> 5);
    return start < 0 ? -1 : start + segment.length;
  }
  for (let start = from; start < text.length; start += widthAt(text, start)) {
    const end = matchForward(segment, text, start);
    if (end >= 0) return end;
  }
  return -1;
}

/** The end of `segment` in `text` when it occurs at `start`, or -1. */
function matchForward(segment: string, text: string, start: number): number {
  let position = start;
  for (let i = 0; i < segment.length; i++) {
    if (position >= text.length) return -1;
    if (segment[i] === '?') position += widthAt(text, position);
    else if (segment[i] === text[position]) position++;
    else {
      spendSteps(1 + (i >> 2));
      return -1;
    }
  }
  spendSteps(1 + (segment.length >> 2));
  return position;
}

/** The start of `segment` when `text` ends with it, or -1. */
function matchBackward(segment: string, text: string): number {
  let position = text.length;
  for (let i = segment.length - 1; i >= 0; i--) {
    if (position <= 0) return -1;
    if (segment[i] === '?') position -= position > 1 && widthAt(text, position - 2) === 2 ? 2 : 1;
    else if (segment[i] === text[position - 1]) position--;
    else return -1;
  }
  return position;
}

function widthAt(text: string, position: number): number {
  return (text.codePointAt(position) ?? 0) > 0xffff ? 2 : 1;
}
