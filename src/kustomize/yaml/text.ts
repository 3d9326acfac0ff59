import { looksTyped } from './types.ts';

/** Lines are folded at the first space beyond this column. */
const lineWidth = 80;

/** Caches keys and short values, which repeat over thousands of resources. */
const shortStrings = new Map<string, string>();

/**
 * Prints a string like kustomize: plain, single-quoted, double-quoted or as a literal block, folded beyond 80 columns.
 *
 * @param column the current column
 * @param indent the indentation of the following lines
 */
export function yamlText(text: string, column: number, indent: number): string {
  if (text.length + column <= lineWidth && !hasBreak(text)) {
    const short = shortText(text);
    // Escapes may exceed the line width.
    if (short.length + column <= lineWidth) return short;
  }
  return longText(text, column, indent);
}

/** A key that fits on one line. A plain `<<` would be a merge key. */
export function yamlKey(key: string): string {
  return key === '<<' ? '"<<"' : shortText(key);
}

/** A key after `? `. Readers disagree about a block scalar as a key, so line breaks are escaped. */
export function yamlLongKey(key: string, indent: number): string {
  return hasBreak(key) ? doubleQuoted(key, indent, indent) : yamlText(key, indent, indent);
}

/** Whether the string contains a YAML line break. */
export function hasBreak(text: string): boolean {
  return breaks.test(text);
}

function shortText(text: string): string {
  const known = shortStrings.get(text);
  if (known !== undefined) return known;
  const result = longText(text, 0, -1);
  if (text.length <= 64 && shortStrings.size < 20_000) shortStrings.set(text, result);
  return result;
}

/** A negative `indent` disables folding. */
function longText(text: string, column: number, indent: number): string {
  const { plain, single, block } = analyze(text);
  if (text.includes('\n')) return block ? literalBlock(text, indent) : doubleQuoted(text, column, indent);
  if (looksTyped(text)) return doubleQuoted(text, column, indent);
  if (plain) return folded(text, column, indent, false);
  return single ? folded(text, column, indent, true) : doubleQuoted(text, column, indent);
}

interface Allowed {
  readonly plain: boolean;
  readonly single: boolean;
  readonly block: boolean;
}

/** Characters that are printed as escapes. */
const special =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\ufeff\ufffe\uffff\ud800-\udfff]/;
const startIndicator = /^(?:[#,[\]{}&*!|>'"%@`]|---|\.\.\.|[-?:](?:[ \t\n\r\u0085\u2028\u2029]|$))/;
const innerIndicator = /:(?:[ \t\n\r\u0085\u2028\u2029]|$)|[ \t\n\r\u0085\u2028\u2029]#/;
const breaks = /[\n\r\u0085\u2028\u2029]/;
/** Readers disagree about these line breaks, so they are printed as escapes. */
const rareBreaks = /[\r\u0085\u2028\u2029]/;
const blankBeforeBreak = / [\n\r\u0085\u2028\u2029]/;
const blankAfterBreak = /[\n\r\u0085\u2028\u2029] /;

function analyze(text: string): Allowed {
  const isSpecial = special.test(text) || blankBeforeBreak.test(text) || rareBreaks.test(text);
  if (isSpecial) return { plain: false, single: false, block: false };
  const isBroken = breaks.test(text);
  const edges = text.startsWith(' ') || text.endsWith(' ');
  return {
    plain: !(isBroken || edges || startIndicator.test(text) || innerIndicator.test(text)),
    single: !(isBroken && blankAfterBreak.test(text)),
    block: !text.endsWith(' '),
  };
}

/** A plain or single-quoted string, folded at single spaces beyond the width. */
function folded(text: string, column: number, indent: number, quoted: boolean): string {
  const body = quoted ? text.replaceAll("'", "''") : text;
  const quote = quoted ? "'" : '';
  const fits = indent < 0 || column + body.length + quote.length <= lineWidth;
  if (fits && !hasBreak(body)) return `${quote}${body}${quote}`;
  let result = quote;
  let at = column + quote.length;
  let afterBlank = false;
  let afterBreak = false;
  const characters = [...body];
  for (const [index, character] of characters.entries()) {
    if (breaks.test(character)) {
      result += character;
      at = 0;
      afterBreak = true;
      continue;
    }
    if (afterBreak) {
      result += ' '.repeat(indent);
      at = indent;
      afterBreak = false;
    }
    const isBlank = character === ' ';
    const isInner = !quoted || (index > 0 && index < characters.length - 1);
    if (isBlank && !afterBlank && at > lineWidth && isInner && characters[index + 1] !== ' ') {
      result += `\n${' '.repeat(indent)}`;
      at = indent;
    } else {
      result += character;
      at++;
    }
    afterBlank = isBlank;
  }
  return result + quote;
}

const escapes = new Map<number, string>([
  [0x00, '0'],
  [0x07, 'a'],
  [0x08, 'b'],
  [0x09, 't'],
  [0x0a, 'n'],
  [0x0b, 'v'],
  [0x0c, 'f'],
  [0x0d, 'r'],
  [0x1b, 'e'],
  [0x22, '"'],
  [0x5c, '\\'],
  [0x85, 'N'],
  [0x2028, 'L'],
  [0x2029, 'P'],
]);

function doubleQuoted(text: string, column: number, indent: number): string {
  let result = '"';
  let at = column + 1;
  let afterBlank = false;
  const characters = [...text];
  // After a leading byte order mark, all non-ASCII characters are escaped.
  const all = text.startsWith('\ufeff');
  for (const [index, character] of characters.entries()) {
    const escaped = escapeOf(character, all);
    if (escaped !== undefined) {
      result += escaped;
      at += escaped.length;
      afterBlank = false;
      continue;
    }
    const isBlank = character === ' ';
    const isInner = index > 0 && index < characters.length - 1;
    if (isBlank && indent >= 0 && !afterBlank && at > lineWidth && isInner) {
      const nextIsBlank = characters[index + 1] === ' ';
      result += `\n${' '.repeat(indent)}${nextIsBlank ? '\\' : ''}`;
      at = indent + (nextIsBlank ? 1 : 0);
    } else {
      result += character;
      at++;
    }
    afterBlank = isBlank;
  }
  return `${result}"`;
}

function escapeOf(character: string, always: boolean): string | undefined {
  const code = character.codePointAt(0) ?? 0;
  const short = escapes.get(code);
  if (short !== undefined) return `\\${short}`;
  if (code === 0xa0) return always ? '\\_' : undefined;
  if (!always && code <= 0xffff && !special.test(character)) return undefined;
  const hexadecimal = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hexadecimal.padStart(2, '0')}`;
  if (code <= 0xffff) return `\\u${hexadecimal.padStart(4, '0')}`;
  return `\\U${hexadecimal.padStart(8, '0')}`;
}

function literalBlock(text: string, indent: number): string {
  const hint = /^[ \n\r\u0085\u2028\u2029]/.test(text) ? '2' : '';
  const chomping = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : '';
  const lines = text.split('\n');
  if (chomping !== '-') lines.pop();
  const pad = ' '.repeat(indent);
  return `|${hint}${chomping}\n${lines.map((line) => (line === '' ? '' : pad + line)).join('\n')}`;
}
