import { compileRegexp, regexpMatches } from '../../expression/go/regexp.ts';
import { quote } from './cel-text.ts';

/**
 * The replacement of `regex.replace`, which writes groups as `\1`, as a literal. Undefined if there is none: for named groups, and for
 * expressions that match empty strings between characters, where Go and CEL replace different matches.
 */
export function regexReplacement(
  pattern: string,
  replacement: string,
  isLiteral: boolean,
): string | undefined {
  let groups: number;
  try {
    groups = compileRegexp(pattern).groupCount();
    if (!pattern.startsWith('^') && regexpMatches(`^(?:${pattern})$`, '')) return undefined;
  } catch {
    return undefined;
  }
  const escaped = (part: string): string => part.replaceAll('\\', '\\\\');
  if (isLiteral) return quote(escaped(replacement));
  let result = '';
  let end = 0;
  for (const match of replacement.matchAll(/\$(?:\$|\{(\w+)\}|(\w+))/g)) {
    const name = match[1] ?? match[2];
    result += escaped(replacement.slice(end, match.index));
    end = match.index + match[0].length;
    if (name === undefined) result += '$';
    else if (/^\d$/.test(name) && Number(name) <= groups) result += `\\${name}`;
    else return undefined;
  }
  return quote(result + escaped(replacement.slice(end)));
}
