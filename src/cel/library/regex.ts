import type { RE2JS } from 're2js';
import { compileRegexp, findMatches, findSpans } from '../../expression/go/regexp.ts';
import { spendText } from '../../json/budget.ts';
import { type Library, overload } from '../types/environment.ts';
import { checkedString } from '../value/arithmetic.ts';
import { attempt, CelError } from '../value/error.ts';
import { type Integer, toNumber } from '../value/integer.ts';
import { Optional } from '../value/value.ts';

function compile(pattern: string): RE2JS {
  return attempt(() => compileRegexp(pattern), 'Illegal regex: ');
}

function find(text: string, pattern: string): string {
  for (const matcher of findMatches(compile(pattern), text)) return matcher.group() ?? '';
  return '';
}

/** All matches, or the first `limit` ones. */
function findAll(text: string, pattern: string, limit: Integer = -1): readonly string[] {
  const most = toNumber(limit);
  const matches: string[] = [];
  if (most === 0) return matches;
  for (const matcher of findMatches(compile(pattern), text)) {
    matches.push(matcher.group() ?? '');
    if (matches.length === most) break;
  }
  return matches;
}

/** Kubernetes' regular expression functions. */
export const regexLibrary: Library = {
  functions: [
    overload('find', 'string.(string) -> string', find),
    overload('findAll', 'string.(string) -> list(string)', findAll),
    overload('findAll', 'string.(string, int) -> list(string)', findAll),
  ],
};

/** In a replacement, `\1` stands for the first group and `\\` for a backslash. */
function expand(replacement: string, groups: readonly string[]): string {
  return replacement.replace(/\\(\d|\\|.|$)/gs, (_all, reference: string) => {
    if (reference === '\\') return '\\';
    if (!/^\d$/.test(reference)) {
      throw new CelError(
        'invalid replacement string: a backslash must be followed by a digit or a backslash',
      );
    }
    const group = groups[Number(reference)];
    if (group === undefined) {
      throw new CelError(
        `replacement string references group ${reference} but the regex has only ${groups.length - 1} group(s)`,
      );
    }
    return group;
  });
}

function replace(text: string, pattern: string, replacement: string, count: Integer = -1): string {
  const limit = toNumber(count);
  if (!replacement.includes('\\')) return replaceLiteral(text, pattern, replacement, limit);
  const regexp = compile(pattern);
  let result = '';
  let end = 0;
  let done = 0;
  if (limit === 0) return text;
  for (const matcher of findMatches(regexp, text)) {
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index) ?? '');
    const replaced = expand(replacement, groups);
    spendText(replaced.length);
    result = checkedString(result + text.slice(end, matcher.start()) + replaced);
    end = matcher.end();
    if (++done === limit) break;
  }
  return result + text.slice(end);
}

/** A replacement without references, the common case, needs only the places of the matches. */
function replaceLiteral(text: string, pattern: string, replacement: string, limit: number): string {
  return attempt(() => {
    let result = '';
    let end = 0;
    let done = 0;
    for (const [start, next] of findSpans(pattern, text)) {
      if (done++ === limit) break;
      spendText(next - end + replacement.length);
      result = checkedString(result + text.slice(end, start) + replacement);
      end = next;
    }
    return result + text.slice(end);
  }, 'Illegal regex: ');
}

function singleGroup(pattern: string): RE2JS {
  const regexp = compile(pattern);
  if (regexp.groupCount() > 1) {
    throw new CelError(`regular expression has more than one capturing group: ${JSON.stringify(pattern)}`);
  }
  return regexp;
}

function extract(text: string, pattern: string): Optional {
  const regexp = singleGroup(pattern);
  for (const matcher of findMatches(regexp, text)) {
    const found = matcher.group(regexp.groupCount());
    return found === null ? Optional.none : new Optional(found);
  }
  return Optional.none;
}

function extractAll(text: string, pattern: string): readonly string[] {
  const regexp = singleGroup(pattern);
  const found: string[] = [];
  for (const matcher of findMatches(regexp, text)) {
    const match = matcher.group(regexp.groupCount());
    if (match !== null && (match !== '' || regexp.groupCount() === 0)) found.push(match);
  }
  return found;
}

/** cel-go's own regular expression functions, which only Kyverno has. */
export const regexExtensionLibrary: Library = {
  functions: [
    overload('regex.replace', '(string, string, string) -> string', replace),
    overload('regex.replace', '(string, string, string, int) -> string', replace),
    overload('regex.extract', '(string, string) -> optional(string)', extract),
    overload('regex.extractAll', '(string, string) -> list(string)', extractAll),
  ],
};
