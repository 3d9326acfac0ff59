import type { Json, JsonObject } from '../json/value.ts';
import { resolveYamlScalar } from './scalar.ts';

/**
 * Reads the subset of YAML that tools print: block maps and lists, scalars on one line. It is several times faster than
 * a full YAML parser. Undefined for anything else, including invalid YAML: then the parser must decide.
 */
export function readSimpleYaml(
  text: string,
  resolve: ScalarResolver = resolveYamlScalar,
): JsonObject | undefined {
  if (unusual.test(text)) return undefined;
  try {
    return new SimpleReader(text, resolve).read();
  } catch (error) {
    if (error === notSimple) return undefined;
    throw error;
  }
}

/** Resolves a plain scalar. It throws `notSimple` to leave the document to the parser. */
export type ScalarResolver = (text: string) => Json;

/** Tabs, carriage returns and characters beyond printable ASCII and Latin letters are left to the parser. */
const unusual = /[^\n -~\u00a1-\u024f]/;

/** Thrown, without a stack, when the text is outside the subset. */
export const notSimple = Symbol('not simple');

const maximumDepth = 100;
const plainKey = /^[A-Za-z_/.][\w./-]*$/;
const jsonText = /^"(?:[^"\\]|\\["\\/bfnrt])*"$/;
const singleQuoted = /^'(?:[^']|'')*'$/;
/** First characters with a special meaning. */
const indicators = new Set('[]{},#&*!|>\'"%@`?:-');

class SimpleReader {
  readonly #text: string;
  #next = 0;
  /** The current line without its indentation; undefined past the end. */
  #line: string | undefined;
  #indent = 0;
  #depth = 0;

  readonly #resolve: ScalarResolver;

  constructor(text: string, resolve: ScalarResolver) {
    this.#text = text;
    this.#resolve = resolve;
  }

  read(): JsonObject {
    this.#advance();
    if (this.#line === undefined || this.#indent !== 0) throw notSimple;
    const object = this.#readMap(0);
    if (this.#line !== undefined) throw notSimple;
    return object;
  }

  /** Moves to the next line that is neither blank nor a comment. */
  #advance(): void {
    const text = this.#text;
    while (this.#next < text.length) {
      let start = this.#next;
      const found = text.indexOf('\n', start);
      let end = found === -1 ? text.length : found;
      this.#next = end + 1;
      const begin = start;
      while (start < end && text.charCodeAt(start) === space) start++;
      if (start === end || text.charCodeAt(start) === hash) continue;
      while (text.charCodeAt(end - 1) === space) end--;
      this.#indent = start - begin;
      this.#line = text.slice(start, end);
      return;
    }
    this.#line = undefined;
    this.#indent = -1;
  }

  #readBlock(indent: number): Json {
    if (++this.#depth > maximumDepth) throw notSimple;
    const value = this.#isItem() ? this.#readList(indent) : this.#readMap(indent);
    this.#depth--;
    return value;
  }

  #isItem(): boolean {
    const line = this.#line;
    return (
      line !== undefined && line.charCodeAt(0) === dash && (line.length === 1 || line.charCodeAt(1) === space)
    );
  }

  #readMap(indent: number): JsonObject {
    const map: Record<string, Json> = {};
    while (this.#line !== undefined && this.#indent === indent && !this.#isItem()) {
      const line = this.#line;
      const colon = endOfKey(line);
      const key = keyOf(line.slice(0, colon), this.#resolve);
      if (Object.hasOwn(map, key)) throw notSimple;
      if (colon + 1 === line.length) {
        this.#advance();
        map[key] = this.#readBelow(indent);
      } else map[key] = this.#readScalar(line.slice(colon + 1).trimStart(), indent);
    }
    if (this.#indent > indent) throw notSimple;
    return map;
  }

  /** The value of a key with nothing after it; a list may have the same indentation as the key. */
  #readBelow(indent: number): Json {
    if (this.#indent > indent) return this.#readBlock(this.#indent);
    if (this.#indent !== indent || !this.#isItem()) return null;
    return this.#readBlock(indent);
  }

  #readList(indent: number): Json {
    const list: Json[] = [];
    while (this.#line !== undefined && this.#indent === indent && this.#isItem()) {
      const line = this.#line;
      if (line.length === 1) {
        this.#advance();
        list.push(this.#indent > indent ? this.#readBlock(this.#indent) : null);
        continue;
      }
      const rest = line.slice(2).trimStart();
      if (rest.charCodeAt(0) === hash) throw notSimple;
      // The content after the dash is indented by its column.
      this.#indent = indent + line.length - rest.length;
      this.#line = rest;
      list.push(
        this.#isItem() || endOfKey(rest, -1) !== -1
          ? this.#readBlock(this.#indent)
          : this.#readScalar(rest, indent),
      );
    }
    if (this.#indent > indent) throw notSimple;
    return list;
  }

  #readScalar(text: string, indent: number): Json {
    this.#advance();
    // A line with more indentation would continue this scalar.
    if (this.#indent > indent) throw notSimple;
    return scalarOf(text, this.#resolve);
  }
}

const space = 0x20;
const hash = 0x23;
const dash = 0x2d;
const colonCode = 0x3a;

/** The offset of the colon after a key; without a key, `otherwise` or an exception. */
function endOfKey(line: string, otherwise?: number): number {
  const from =
    line.charCodeAt(0) === 0x22 || line.charCodeAt(0) === 0x27 ? line.indexOf(line.charAt(0), 1) + 1 : 0;
  for (let at = line.indexOf(':', from); at !== -1; at = line.indexOf(':', at + 1)) {
    if (at + 1 === line.length || line.charCodeAt(at + 1) === space) return at;
  }
  if (otherwise === undefined) throw notSimple;
  return otherwise;
}

function keyOf(text: string, resolve: ScalarResolver): string {
  if (plainKey.test(text)) {
    if (text === '__proto__' || typeof resolve(text) !== 'string') throw notSimple;
    return text;
  }
  const value = text.startsWith('"') || text.startsWith("'") ? scalarOf(text, resolve) : undefined;
  if (typeof value !== 'string' || value === '__proto__') throw notSimple;
  return value;
}

function scalarOf(text: string, resolve: ScalarResolver): Json {
  const first = text.charAt(0);
  if (!indicators.has(first)) return plainOf(text, resolve);
  if (first === '"' && jsonText.test(text)) return JSON.parse(text) as string;
  if (first === "'" && singleQuoted.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  if (text === '{}') return {};
  if (text === '[]') return [];
  if (first === '-' && text.length > 1 && text.charCodeAt(1) !== space) return plainOf(text, resolve);
  throw notSimple;
}

function plainOf(text: string, resolve: ScalarResolver): Json {
  if (text.includes(' #') || text.includes(': ') || text.charCodeAt(text.length - 1) === colonCode)
    throw notSimple;
  try {
    return resolve(text);
  } catch {
    throw notSimple;
  }
}
