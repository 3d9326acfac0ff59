import { Composer, type CST, Lexer, LineCounter, Parser } from 'yaml';
import type { ErrorCode } from '../errors.ts';
import { formatPointer } from '../json/pointer.ts';
import {
  isArray,
  isObject,
  type Json,
  type JsonArray,
  type JsonObject,
  member,
  type Path,
  valueAt,
} from '../json/value.ts';
import type { Problem } from '../problem.ts';
import { adviseOnSyntax } from '../yaml/advice.ts';
import { convertYaml, type SourceOffsets } from '../yaml/value.ts';

export interface SourceFile {
  readonly file: string;
  readonly text: string;
}

export interface Position {
  /** 1-based. */
  readonly line: number;
  /** 1-based. */
  readonly column: number;
  /** The line, where the position is one in the text of a string. */
  readonly sourceLine?: string | undefined;
}

/** One object read from a file; the items of a `List` are documents of their own. */
export interface SourceDocument {
  readonly file: string;
  readonly value: JsonObject;
  /**
   * The position of the key or item at `path`, or of its nearest existing parent. With `offset`, the position of that
   * character of the string at `path`.
   */
  positionOf(path: Path, offset?: number): Position;
  /** The plain scalar at `path` as written, unless it is a string: `yes`, `012`. */
  writtenAt(path: Path): string | undefined;
}

export interface ReadResult {
  readonly documents: readonly SourceDocument[];
  readonly problems: readonly Problem[];
}

const maximumCharacters = 10 * 1024 * 1024;
const maximumDepth = 250;

/** Reads YAML (many documents) or JSON. An invalid document is reported and does not affect the others. */
export function readDocuments({ file, text }: SourceFile): ReadResult {
  const problems: Problem[] = [];
  if (text.length > maximumCharacters) {
    problems.push(problemAt('KYM_INPUT_TOO_LARGE', 'the file is larger than 10 MB', { line: 1, column: 1 }));
    return { documents: [], problems: inFile(problems, file) };
  }
  const documents = splitDocuments(text).flatMap((part) => readPart(file, part, problems));
  return { documents, problems: inFile(problems, file) };
}

export interface DocumentPart {
  readonly text: string;
  /** Lines of the file before this part. */
  readonly linesBefore: number;
}

/**
 * Documents are parsed one by one, so that an unclosed quote affects only its own document. A part that has only
 * comments and directives belongs to the next document.
 */
export function splitDocuments(text: string): DocumentPart[] {
  const parts: DocumentPart[] = [];
  let start = 0;
  let linesBefore = 0;
  const push = (end: number) => {
    const part = text.slice(start, end);
    parts.push({ text: part, linesBefore });
    linesBefore += part.split('\n').length - 1;
    start = end;
  };
  for (const separator of text.matchAll(/^---(?=\s|$)/gm)) {
    const hasContent = text
      .slice(start, separator.index)
      .split('\n')
      .some((line) => !/^\s*([#%].*)?$/.test(line));
    if (hasContent) push(separator.index);
  }
  push(text.length);
  return parts;
}

function readPart(file: string, part: DocumentPart, problems: Problem[]): SourceDocument[] {
  const lines = new LineCounter();
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1) + part.linesBefore, column: Math.max(col, 1) };
  };
  const tokens = parseTokens(part.text, lines);
  if (tokens === undefined) {
    const place = positionAt(0);
    problems.push(problemAt('KYM_INPUT_TOO_DEEP', `values nest deeper than ${maximumDepth} levels`, place));
    return [];
  }
  const documents: SourceDocument[] = [];
  const composer = new Composer({ schema: 'failsafe', uniqueKeys: false, merge: false, logLevel: 'silent' });
  for (const composed of composer.compose(tokens, false, part.text.length)) {
    const [error] = composed.errors;
    if (error !== undefined) {
      // Later errors of a document mostly follow from the first one.
      problems.push(syntaxProblem(error.message, positionAt(error.pos[0]), part));
      continue;
    }
    const offsets = new WeakMap<JsonObject | JsonArray, SourceOffsets>();
    const { value, problems: found } = convertYaml(composed.contents, offsets);
    for (const { kind, message, offset } of found) {
      const position = positionAt(offset);
      if (kind === 'aliases') problems.push(problemAt('KYM_YAML_ALIASES', message, position));
      else problems.push(syntaxProblem(message, position, part));
    }
    if (found.length > 0 || value === null) continue;
    documents.push(...toDocuments({ file, text: part.text }, value, offsets, positionAt, problems));
  }
  return documents;
}

/** Undefined when the document nests too deeply, which is detected while parsing, before anything recurses into it. */
function parseTokens(text: string, lines: LineCounter): CST.Token[] | undefined {
  const tokens: CST.Token[] = [];
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > maximumDepth) return undefined;
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

function toDocuments(
  source: SourceFile,
  value: Json,
  offsets: WeakMap<JsonObject | JsonArray, SourceOffsets>,
  positionAt: (offset: number) => Position,
  problems: Problem[],
): SourceDocument[] {
  if (!isObject(value)) {
    const place = positionAt(isArray(value) ? (offsets.get(value)?.start ?? 0) : 0);
    problems.push(
      problemAt('KYM_YAML_SYNTAX', 'a document must be an object with apiVersion and kind', place),
    );
    return [];
  }
  const items = listItems(value);
  if (items !== undefined) {
    return items.flatMap((item) => toDocuments(source, item, offsets, positionAt, problems));
  }
  return [
    {
      file: source.file,
      value,
      positionOf(path, offset) {
        const inText =
          offset === undefined ? undefined : offsetInScalar(value, path, offset, offsets, source.text);
        if (inText === undefined) return positionAt(offsetOf(value, path, offsets));
        return { ...positionAt(inText), sourceLine: lineAt(source.text, inText) };
      },
      writtenAt(path) {
        const holder = valueAt(value, path.slice(0, -1));
        const token = path.at(-1);
        if (token === undefined || (!isObject(holder) && !isArray(holder))) return undefined;
        return offsets.get(holder)?.scalars?.get(token);
      },
    },
  ];
}

/** Longer lines are not quoted. */
const longestLine = 1_000;

function lineAt(text: string, offset: number): string | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  const line = text.slice(start, end === -1 ? undefined : end).replace(/\r$/, '');
  return line.length > longestLine ? undefined : line;
}

/** The items of `kind: List`, `ClusterPolicyList` …; undefined for anything else. */
function listItems(value: JsonObject): JsonArray | undefined {
  const kind = member(value, 'kind');
  const items = member(value, 'items');
  if (typeof kind !== 'string' || !kind.endsWith('List')) return undefined;
  if (items === null) return [];
  return isArray(items) ? items : undefined;
}

function offsetOf(
  root: JsonObject,
  path: Path,
  offsets: WeakMap<JsonObject | JsonArray, SourceOffsets>,
): number {
  let offset = offsets.get(root)?.start ?? 0;
  let current: Json | undefined = root;
  for (const token of path) {
    if (!isObject(current) && !isArray(current)) break;
    const found = offsets.get(current)?.members.get(isArray(current) ? Number(token) : String(token));
    if (found === undefined) break;
    offset = found;
    current = isArray(current) ? current[Number(token)] : member(current, String(token));
  }
  return offset;
}

function syntaxProblem(message: string, position: Position, part: DocumentPart): Problem {
  const advice = adviseOnSyntax(part.text, position.line - part.linesBefore);
  const { hint, sourceLine } = advice;
  return { ...problemAt('KYM_YAML_SYNTAX', advice.message ?? message, position), hint, sourceLine };
}

/** The source offset of a character of the string at the path; undefined if there is none. */
function offsetInScalar(
  root: JsonObject,
  path: Path,
  offset: number,
  offsets: WeakMap<JsonObject | JsonArray, SourceOffsets>,
  text: string,
): number | undefined {
  const owner = valueAt(root, path.slice(0, -1));
  const key = path.at(-1);
  const value = valueAt(root, path);
  if (!(isObject(owner) || isArray(owner)) || key === undefined || typeof value !== 'string')
    return undefined;
  const range = offsets.get(owner)?.ranges.get(isArray(owner) ? Number(key) : String(key));
  return range === undefined ? undefined : sourceOffset(value, offset, text, range);
}

/**
 * Follows a string through its source: quotes, escapes, indentation and folded lines lie between its characters, so
 * white space and what does not belong to the string is skipped.
 */
function sourceOffset(
  value: string,
  offset: number,
  text: string,
  [start, end]: readonly [number, number],
): number {
  if (text[start] === '"') return Math.min(quotedOffset(offset, text, start + 1), Math.max(end - 1, start));
  // The header of a block scalar ends with its line.
  const isBlock = text[start] === '|' || text[start] === '>';
  let at = isBlock ? text.indexOf('\n', start) + 1 : start;
  for (let index = 0; index <= offset; index++) {
    const character = value[index];
    if (character === undefined || /\s/.test(character)) continue;
    while (at < end && text[at] !== character) at++;
    if (index < offset) at++;
  }
  return Math.min(at, Math.max(end - 1, start));
}

const escapeLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** In double quotes, escapes stand for other characters, and lines are folded. */
function quotedOffset(offset: number, text: string, start: number): number {
  const lineBreaks = /[ \t]*\r?\n(?:[ \t]*\r?\n)*[ \t]*/y;
  const escapedBreak = /\\\r?\n[ \t]*/y;
  let at = start;
  let index = 0;
  while (at < text.length) {
    escapedBreak.lastIndex = at;
    const joined = escapedBreak.exec(text);
    if (joined !== null) {
      at += joined[0].length;
      continue;
    }
    if (index >= offset) break;
    lineBreaks.lastIndex = at;
    const folded = lineBreaks.exec(text);
    if (folded !== null) {
      at += folded[0].length;
      index += Math.max(folded[0].split('\n').length - 2, 1);
    } else if (text[at] === '\\') {
      const digits = escapeLengths[text[at + 1] ?? ''] ?? 0;
      // A code point beyond the first 65,536 is two characters.
      index += Number.parseInt(text.slice(at + 2, at + 2 + digits), 16) > 0xffff ? 2 : 1;
      at += 2 + digits;
    } else {
      at++;
      index++;
    }
  }
  return at;
}

function problemAt(code: ErrorCode, message: string, { line, column }: Position): Problem {
  return { code, severity: 'error', message, pointer: formatPointer([]), line, column };
}

function inFile(problems: readonly Problem[], file: string): Problem[] {
  return problems.map((problem) => ({ ...problem, file }));
}
