/** One `{{ … }}` in a string. */
export interface VariableToken {
  /** Offset of the first brace. */
  readonly start: number;
  /** Offset just after the last brace. */
  readonly end: number;
  /** The expression between the braces, trimmed, without the `-` of the shallow form. */
  readonly expression: string;
  /** Offset of `expression` in the string. */
  readonly expressionStart: number;
  /** Written `{{- … }}`. */
  readonly shallow: boolean;
  /** Nesting: 1 for a token without inner tokens, 2 for a token that contains such tokens, and so on. */
  readonly levels: number;
}

interface OpenBrace {
  readonly start: number;
  readonly group: boolean;
  levels: number;
}

/**
 * Finds the outermost `{{ }}` tokens in one pass. A token may contain tokens and `{…}` groups
 * (but not nested groups). `\{{` is escaped. Unclosed braces are literal.
 */
export function findVariables(text: string): VariableToken[] {
  const found: VariableToken[] = [];
  const open: OpenBrace[] = [];
  let group: { readonly start: number; readonly end: number } | undefined;
  for (let at = text.indexOf('{{'); at >= 0 && at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === OPEN) {
      if (text.charCodeAt(at - 1) === BACKSLASH) open.length = 0;
      else if (text.charCodeAt(at + 1) === OPEN) open.push({ start: at++, group: false, levels: 1 });
      else openGroup(open, at);
    } else if (character === CLOSE) {
      const last = open.pop();
      if (last === undefined) continue;
      if (last.group) group = { start: last.start, end: at };
      else if (text.charCodeAt(at + 1) === CLOSE) closeToken(text, last, ++at + 1, open, found);
      else {
        // `{{{ a }}` is a literal brace followed by a token.
        const shifted = group?.start === last.start + 2 && group.end === at - 1 && open.length === 0;
        if (shifted) closeToken(text, { ...last, start: last.start + 1 }, at + 1, open, found);
        open.length = 0;
      }
    }
  }
  return found;
}

/** Whether a string contains a variable. */
export function hasVariable(text: string): boolean {
  return text.includes('{{') && findVariables(text).length > 0;
}

/** The part of a string from an opening `{{` that no `}}` closes; undefined if all are closed or escaped. */
export function unclosedBraces(text: string): string | undefined {
  if (!text.includes('{{')) return undefined;
  const tokens = findVariables(text);
  let at = 0;
  for (const { start, end } of [...tokens, { start: text.length, end: text.length }]) {
    const open = /(?<!\\)\{\{[^{}\n]*\}?/.exec(text.slice(at, start));
    if (open !== null) return open[0].trimEnd();
    at = end;
  }
  return undefined;
}

/** Unescapes the text between tokens: `\{{` stands for `{{`. */
export function unescapeBraces(text: string): string {
  return text.includes('\\{{') ? text.replaceAll('\\{{', '{{') : text;
}

const OPEN = 0x7b;
const CLOSE = 0x7d;
const BACKSLASH = 0x5c;

function openGroup(open: OpenBrace[], start: number): void {
  const last = open.at(-1);
  if (last === undefined) return;
  if (last.group) open.length = 0;
  else open.push({ start, group: true, levels: 0 });
}

function closeToken(
  text: string,
  token: OpenBrace,
  end: number,
  open: readonly OpenBrace[],
  found: VariableToken[],
): void {
  while ((found.at(-1)?.start ?? -1) > token.start) found.pop();
  const last = open.at(-1);
  const outer = last?.group ? open.at(-2) : last;
  if (outer !== undefined) outer.levels = Math.max(outer.levels, token.levels + 1);
  found.push(readToken(text, token.start, end, token.levels));
}

function readToken(text: string, start: number, end: number, levels: number): VariableToken {
  const inner = text.slice(start + 2, end - 2);
  const trimmed = inner.trim();
  const shallow = trimmed.startsWith('-');
  const expression = shallow ? trimmed.slice(1).trim() : trimmed;
  const lead = inner.length - inner.trimStart().length;
  const dash = shallow ? 1 + trimmed.slice(1).length - trimmed.slice(1).trimStart().length : 0;
  return { start, end, expression, expressionStart: start + 2 + lead + dash, shallow, levels };
}
