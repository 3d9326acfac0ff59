import { jsonText, stringifyJson } from '../json-text.ts';
import type { PatchOperation } from '../patch/operation.ts';
import { escapeToken } from '../pointer.ts';
import type { Json } from '../value.ts';

/** Receives the differences. */
export interface DiffSink {
  /** The number of operations. */
  readonly count: number;
  /** A key as a path token. */
  token(key: string): string;
  put(op: 'add' | 'replace', path: string, value: Json): void;
  remove(path: string): void;
  /** Approximate length, as JSON, of the operations from this one on. */
  lengthFrom(index: number): number;
  /** Length of a path of this sink, as JSON. */
  pathLength(path: string): number;
  /** Drops the operations from this one on. */
  dropFrom(index: number): void;
}

export class OperationSink implements DiffSink {
  readonly operations: PatchOperation[] = [];

  get count(): number {
    return this.operations.length;
  }

  token(key: string): string {
    return escapeToken(key);
  }

  put(op: 'add' | 'replace', path: string, value: Json): void {
    this.operations.push({ op, path, value });
  }

  remove(path: string): void {
    this.operations.push({ op: 'remove', path });
  }

  lengthFrom(index: number): number {
    let length = 0;
    for (let at = index; at < this.operations.length; at++) {
      length += stringifyJson(this.operations[at]).length + 1;
    }
    return length;
  }

  pathLength(path: string): number {
    return jsonText(path).length - 2;
  }

  dropFrom(index: number): void {
    this.operations.length = index;
  }
}

/** Writes the patch as JSON directly, without building operations: this halves the cost of a response. */
export class TextSink implements DiffSink {
  #operations = '';
  /** The offset of each operation. */
  readonly #starts: number[] = [];

  get count(): number {
    return this.#starts.length;
  }

  get text(): string {
    return `[${this.#operations}]`;
  }

  token(key: string): string {
    return tokenText(key);
  }

  put(op: 'add' | 'replace', path: string, value: Json): void {
    this.#append(`{"op":"${op}","path":"${path}","value":${jsonText(value)}}`);
  }

  remove(path: string): void {
    this.#append(`{"op":"remove","path":"${path}"}`);
  }

  lengthFrom(index: number): number {
    return this.#operations.length + 1 - (this.#starts[index] ?? 0);
  }

  /** Its tokens are escaped already. */
  pathLength(path: string): number {
    return path.length;
  }

  dropFrom(index: number): void {
    this.#operations = this.#operations.slice(0, Math.max(0, (this.#starts[index] ?? 0) - 1));
    this.#starts.length = index;
  }

  #append(operation: string): void {
    if (this.#starts.length > 0) this.#operations += ',';
    this.#starts.push(this.#operations.length);
    this.#operations += operation;
  }
}

const tokenTexts = new Map<string, string>();
const mostTokens = 4_096;
const longestToken = 64;

/** Objects share few keys, so the escaped tokens are cached. */
function tokenText(key: string): string {
  const known = tokenTexts.get(key);
  if (known !== undefined) return known;
  const text = JSON.stringify(escapeToken(key)).slice(1, -1);
  if (key.length > longestToken) return text;
  if (tokenTexts.size >= mostTokens) tokenTexts.clear();
  tokenTexts.set(key, text);
  return text;
}
