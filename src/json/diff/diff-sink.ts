import { jsonText, stringifyJson } from '../json-text.ts';
import type { PatchOperation } from '../patch/operation.ts';
import type { Json } from '../value.ts';
import type { PathText } from './path-text.ts';

/** Receives the differences. */
export interface DiffSink {
  /** The number of operations. */
  readonly count: number;
  put(op: 'add' | 'replace', path: PathText, value: Json): void;
  remove(path: PathText): void;
  /** Length, as JSON, of the operations from this one on. */
  lengthFrom(index: number): number;
  /** Drops the operations from this one on. */
  dropFrom(index: number): void;
}

export class OperationSink implements DiffSink {
  readonly operations: PatchOperation[] = [];

  get count(): number {
    return this.operations.length;
  }

  put(op: 'add' | 'replace', path: PathText, value: Json): void {
    this.operations.push({ op, path: path.pointer, value });
  }

  remove(path: PathText): void {
    this.operations.push({ op: 'remove', path: path.pointer });
  }

  lengthFrom(index: number): number {
    let length = 0;
    for (let at = index; at < this.operations.length; at++) {
      length += stringifyJson(this.operations[at]).length + 1;
    }
    return length;
  }

  dropFrom(index: number): void {
    this.operations.length = index;
  }
}

const separator = '},';

/** Writes the patch as JSON directly, without building operations: this halves the cost of a response. */
export class TextSink implements DiffSink {
  /** Each without its closing brace. */
  readonly #operations: string[] = [];

  get count(): number {
    return this.#operations.length;
  }

  get text(): string {
    return this.#operations.length === 0 ? '[]' : `[${this.#operations.join(separator)}}]`;
  }

  put(op: 'add' | 'replace', path: PathText, value: Json): void {
    this.#operations.push(path.operation(op) + jsonText(value));
  }

  remove(path: PathText): void {
    this.#operations.push(`{"op":"remove","path":"${path.escaped}"`);
  }

  lengthFrom(index: number): number {
    let length = 0;
    for (let at = index; at < this.#operations.length; at++) {
      length += (this.#operations[at] as string).length + separator.length;
    }
    return length;
  }

  dropFrom(index: number): void {
    this.#operations.length = index;
  }
}
