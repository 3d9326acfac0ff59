import { parseJson } from '../../json/json-text.ts';
import type { Json } from '../../json/value.ts';
import type { BoundJson, BoundJsonPart, ComparisonOperator, TextValue } from './ast.ts';
import { ExpressionSyntaxError } from './syntax-error.ts';

type Punctuation = '.' | '*' | ',' | ':' | '{' | '}' | '[' | ']' | '[?' | '[]' | '(' | ')' | '@' | '&' | '!';

export type Token = { readonly start: number } & (
  | { readonly type: Punctuation | ComparisonOperator | '|' | '||' | '&&' | 'end' }
  | { readonly type: 'identifier'; readonly name: string }
  | { readonly type: 'quoted'; readonly text: TextValue }
  | { readonly type: 'raw'; readonly text: TextValue }
  | { readonly type: 'literal'; readonly value: Json }
  | { readonly type: 'bound-literal'; readonly json: BoundJson }
  | { readonly type: 'number'; readonly value: number }
);

/** The source range of a nested variable inside quotes. Ranges are in order. */
export interface VariableRange {
  readonly start: number;
  readonly end: number;
}

type Quote = "'" | '"' | '`';

const simple = /\|\||&&|\[\?|\[\]|[<>=!]=|[.*,:{}[\]()@|&<>!]/y;
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const integer = /-?[0-9]+/y;
const blank = /[ \t\n\r]*/y;

/** Tokenizes an expression like the Go implementation that Kyverno uses. */
export function tokenize(text: string, variables: readonly VariableRange[]): Token[] {
  const tokens: Token[] = [];
  let at = skip(blank, text, 0);
  let variable = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    const start = at;
    if (character === "'" || character === '"' || character === '`') {
      const content = quoted(text, start, character, variables, variable);
      tokens.push(quotedToken(character, content.parts, start));
      at = content.end;
      variable = content.next;
    } else {
      const token = plainToken(text, start);
      tokens.push(token.token);
      at = token.end;
    }
    at = skip(blank, text, at);
  }
  tokens.push({ type: 'end', start: text.length });
  return tokens;
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function plainToken(text: string, start: number): { token: Token; end: number } {
  let end = skip(identifier, text, start);
  if (end > start) return { token: { type: 'identifier', name: text.slice(start, end), start }, end };
  end = skip(integer, text, start);
  if (end > start)
    return { token: { type: 'number', value: Number(text.slice(start, end)) || 0, start }, end };
  end = skip(simple, text, start);
  if (end > start) return { token: { type: text.slice(start, end) as Punctuation, start }, end };
  throw new ExpressionSyntaxError(
    `unknown character ${JSON.stringify(String.fromCodePoint(text.codePointAt(start) ?? 0))}`,
    start,
  );
}

/** The content between quotes: raw source strings, and the indexes of the variables between them. */
function quoted(
  text: string,
  start: number,
  quote: Quote,
  variables: readonly VariableRange[],
  first: number,
) {
  const parts: (string | number)[] = [];
  let from = start + 1;
  let next = first;
  for (let at = from; at < text.length; at++) {
    const variable = variables[next];
    if (at === variable?.start) {
      parts.push(text.slice(from, at), next++);
      from = variable.end;
      at = from - 1;
      continue;
    }
    const character = text.charAt(at);
    if (character === quote) {
      parts.push(text.slice(from, at));
      return { parts, end: at + 1, next };
    }
    // In a raw string a backslash escapes only the quote.
    if (character === '\\' && (quote !== "'" || text.charAt(at + 1) === quote)) at++;
  }
  throw new ExpressionSyntaxError(`unclosed ${quote}`, start);
}

function quotedToken(quote: Quote, parts: readonly (string | number)[], start: number): Token {
  if (quote === '`') return literalToken(parts, start);
  const decode = quote === "'" ? decodeRaw : (part: string) => decodeQuoted(part, start);
  const decoded = parts
    .map((part) => (typeof part === 'string' ? decode(part) : part))
    .filter((part) => part !== '');
  const [only = ''] = decoded;
  const text = decoded.length <= 1 && typeof only === 'string' ? only : { parts: decoded };
  return { type: quote === "'" ? 'raw' : 'quoted', text, start };
}

function decodeRaw(text: string): string {
  return text.replaceAll("\\'", "'");
}

function decodeQuoted(text: string, start: number): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch (cause) {
    throw new ExpressionSyntaxError('invalid escape or control character in a quoted key', start, { cause });
  }
}

function literalToken(parts: readonly (string | number)[], start: number): Token {
  const decoded = parts.map((part) => (typeof part === 'string' ? part.replaceAll('\\`', '`') : part));
  const [only] = decoded;
  if (decoded.length === 1 && typeof only === 'string')
    return { type: 'literal', value: parseLiteral(only, start), start };
  let inString = false;
  const json: (string | BoundJsonPart)[] = [];
  for (const part of decoded) {
    if (typeof part === 'number') {
      json.push({ variable: part, inString });
      continue;
    }
    inString = endsInString(part, inString);
    json.push(part);
  }
  return { type: 'bound-literal', json: { parts: json.filter((part) => part !== '') }, start };
}

function parseLiteral(text: string, start: number): Json {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new ExpressionSyntaxError('a literal in backticks must be JSON', start, { cause });
  }
}

/** Whether the end of this JSON source is inside a string. */
function endsInString(text: string, startsInString: boolean): boolean {
  let inString = startsInString;
  for (let at = 0; at < text.length; at++) {
    if (text.charAt(at) === '\\') at++;
    else if (text.charAt(at) === '"') inString = !inString;
  }
  return inString;
}

/** A cursor over the tokens of an expression. The last token is `end`. */
export class TokenStream {
  readonly #tokens: readonly Token[];
  #index = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  next(ahead = 0): Token {
    return this.#tokens[this.#index + ahead] ?? (this.#tokens.at(-1) as Token);
  }

  take(): Token {
    const token = this.next();
    this.#index++;
    return token;
  }

  expect(type: Token['type']): void {
    const token = this.take();
    if (token.type !== type) this.unexpected(token, type);
  }

  unexpected(token: Token, expected?: string): never {
    const found = token.type === 'end' ? 'end of the expression' : describe(token);
    throw new ExpressionSyntaxError(
      `unexpected ${found}${expected ? `, expected ${expected}` : ''}`,
      token.start,
    );
  }
}

function describe(token: Token): string {
  if (token.type === 'identifier') return `"${token.name}"`;
  if (token.type === 'number') return `number ${token.value}`;
  if (token.type === 'raw') return 'raw string';
  if (token.type === 'quoted') return 'quoted key';
  if (token.type === 'literal' || token.type === 'bound-literal') return 'literal';
  return `"${token.type}"`;
}
