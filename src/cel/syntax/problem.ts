import { habitHint } from './habits.ts';

/** Something wrong in an expression that is known before it is evaluated. */
export interface CelProblem {
  readonly message: string;
  readonly hint?: string | undefined;
  /** In UTF-16 units, from the start of the expression. */
  readonly offset: number;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in characters. */
  readonly column: number;
}

/** Raised where parsing cannot go on. */
export class CelSyntaxError extends Error {
  override readonly name = 'CelSyntaxError';
  readonly offset: number;
  readonly hint: string | undefined;
  constructor(message: string, offset: number, hint?: string) {
    super(message);
    this.offset = offset;
    this.hint = hint;
  }
}

export function problemAt(source: string, offset: number, message: string, given?: string): CelProblem {
  const hint = habitHint(source, offset, message, given);
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  const line = before.split('\n').length;
  return { message, hint, offset, line, column: Array.from(before.slice(lineStart)).length + 1 };
}

const longestLine = 200;

/** The message with the source line and a caret below it, as cel-go prints it. */
export function formatProblem(problem: CelProblem, source: string, name = '<input>'): string {
  const head = `ERROR: ${name}:${problem.line}:${problem.column}: ${problem.message}`;
  const line = source.split('\n')[problem.line - 1] ?? '';
  if (line.length > longestLine) return head;
  return `${head}\n | ${line}\n | ${'.'.repeat(problem.column - 1)}^`;
}
