import { jsonText, stringifyJson } from '../json-text.ts';
import type { PatchOperation } from '../patch/operation.ts';
import type { Json } from '../value.ts';
import { type PathText, separator } from './path-text.ts';

/** Receives the differences. A mark is a state that it can return to. */
export interface DiffSink<Mark> {
  /** The number of operations. */
  readonly count: number;
  readonly mark: Mark;
  put(op: 'add' | 'replace', path: PathText, value: Json): void;
  remove(path: PathText): void;
  /** Length, as JSON, of the operations since the mark. */
  lengthSince(mark: Mark): number;
  /** Drops the operations since the mark, of which `count` remain. */
  returnTo(mark: Mark, count: number): void;
}

export class OperationSink implements DiffSink<number> {
  readonly operations: PatchOperation[] = [];

  get count(): number {
    return this.operations.length;
  }

  get mark(): number {
    return this.operations.length;
  }

  put(op: 'add' | 'replace', path: PathText, value: Json): void {
    this.operations.push({ op, path: path.pointer, value });
  }

  remove(path: PathText): void {
    this.operations.push({ op: 'remove', path: path.pointer });
  }

  lengthSince(mark: number): number {
    let length = 0;
    for (let at = mark; at < this.operations.length; at++) {
      length += stringifyJson(this.operations[at]).length + 1;
    }
    return length;
  }

  returnTo(mark: number): void {
    this.operations.length = mark;
  }
}

/**
 * Writes the patch as JSON directly, without building operations: this halves the cost of a response. The text only
 * grows, and V8 copies its parts once, when it is encoded; an earlier text is the mark to return to.
 */
export class TextSink implements DiffSink<string> {
  /** Without the closing brace of the last operation. */
  #text = '';
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get mark(): string {
    return this.#text;
  }

  get text(): string {
    return this.#count === 0 ? '[]' : `[${this.#text}}]`;
  }

  put(op: 'add' | 'replace', path: PathText, value: Json): void {
    this.#append(path.operation(op), jsonText(value));
  }

  remove(path: PathText): void {
    this.#append(`${separator}{"op":"remove","path":"`, `${path.escaped}"`);
  }

  #append(beginning: string, rest: string): void {
    this.#text = (this.#count === 0 ? beginning.slice(separator.length) : this.#text + beginning) + rest;
    this.#count++;
  }

  lengthSince(mark: string): number {
    const length = this.#text.length - mark.length;
    // The first operation has no separator before it, but counts as long as any other.
    return mark === '' && length > 0 ? length + separator.length : length;
  }

  returnTo(mark: string, count: number): void {
    this.#text = mark;
    this.#count = count;
  }
}
