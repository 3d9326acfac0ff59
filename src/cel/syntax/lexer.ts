import { CelSyntaxError } from './problem.ts';

export type TokenKind =
  | 'identifier'
  | 'quoted-identifier'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'symbol'
  | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** As written; of a string without quotes and prefix. */
  readonly text: string;
  readonly offset: number;
  readonly end: number;
  readonly raw: boolean;
}

const space = /[\t\f\n\r ]+|\/\/[^\n]*/y;
const name = /[A-Za-z_][A-Za-z0-9_]*/y;
const quotedName = /`([A-Za-z0-9_.\-/ ]+)`/y;
const number =
  /0x[0-9a-fA-F]+[uU]?|\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?|\d+[uU]?/y;
const symbol = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}]/y;
const stringStart = /([bB]?)([rR]?)("""|'''|"|')/y;

function matchAt(pattern: RegExp, source: string, offset: number): RegExpExecArray | null {
  pattern.lastIndex = offset;
  return pattern.exec(source);
}

/** Splits an expression into tokens. The last one is of kind `end`. */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let offset = 0;
  while (offset < source.length) {
    const blank = matchAt(space, source, offset);
    if (blank !== null) {
      offset += blank[0].length;
      continue;
    }
    const token = readToken(source, offset);
    tokens.push(token);
    offset = token.end;
  }
  tokens.push({ kind: 'end', text: '', offset: source.length, end: source.length, raw: false });
  return tokens;
}

function readToken(source: string, offset: number): Token {
  const opening = matchAt(stringStart, source, offset);
  if (opening !== null) return readString(source, offset, opening);
  const word = matchAt(name, source, offset)?.[0];
  if (word !== undefined) return plain('identifier', word, offset);
  const quoted = matchAt(quotedName, source, offset);
  if (quoted !== null) {
    return {
      kind: 'quoted-identifier',
      text: quoted[1] ?? '',
      offset,
      end: offset + quoted[0].length,
      raw: false,
    };
  }
  const digits = matchAt(number, source, offset)?.[0];
  if (digits !== undefined) return plain(numberKind(digits), digits, offset);
  const sign = matchAt(symbol, source, offset)?.[0];
  if (sign !== undefined) return plain('symbol', sign, offset);
  const character = String.fromCodePoint(source.codePointAt(offset) ?? 0);
  throw new CelSyntaxError(
    `Syntax error: token recognition error at: '${character}'`,
    offset,
    hints.get(character),
  );
}

const hints: ReadonlyMap<string, string> = new Map([
  ['=', 'Compare with `==`.'],
  ['&', 'Write `&&` for a logical and.'],
  ['|', 'Write `||` for a logical or.'],
  ['$', 'CEL has no `$` variables; write the name alone.'],
  ['`', 'A quoted name has letters, digits, `_`, `.`, `-`, `/` and blanks, and ends with a back-quote.'],
]);

function plain(kind: TokenKind, text: string, offset: number): Token {
  return { kind, text, offset, end: offset + text.length, raw: false };
}

function numberKind(digits: string): TokenKind {
  if (/[uU]$/.test(digits)) return 'uint';
  return /^0x/.test(digits) || /^\d+$/.test(digits) ? 'int' : 'double';
}

function readString(source: string, offset: number, opening: RegExpExecArray): Token {
  const [all, bytes = '', raw = '', quote = ''] = opening;
  const start = offset + all.length;
  const isLong = quote.length === 3;
  let end = start;
  while (!source.startsWith(quote, end)) {
    const character = source[end];
    if (character === undefined || (!isLong && (character === '\n' || character === '\r'))) {
      throw new CelSyntaxError(
        `Syntax error: the string is not terminated`,
        offset,
        `Close the string with ${quote}.`,
      );
    }
    end += character === '\\' && raw === '' ? 2 : 1;
  }
  const kind = bytes === '' ? 'string' : 'bytes';
  return { kind, text: source.slice(start, end), offset, end: end + quote.length, raw: raw !== '' };
}
