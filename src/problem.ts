import type { ErrorCode } from './errors.ts';
import type { Path } from './json/value.ts';

/** An error or warning about a document, with what a user needs to locate and fix it. */
export interface Problem {
  readonly code: ErrorCode;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly hint?: string | undefined;
  /** A change of the source that solves the problem. */
  readonly fix?: Fix | undefined;
  /** RFC 6901 pointer into the document. */
  readonly pointer: string;
  readonly file?: string | undefined;
  /** 1-based. */
  readonly line?: number | undefined;
  /** 1-based. */
  readonly column?: number | undefined;
  /** The source line of a syntax error, or of a problem inside an expression. */
  readonly sourceLine?: string | undefined;
  readonly policy?: string | undefined;
  readonly rule?: string | undefined;
}

/** Replaces the first occurrence of `find` at or after the position of the problem. */
export interface Fix {
  readonly find: string;
  readonly replace: string;
}

/** What to do about a problem, with a fix that a program can apply. */
export type Hint = string | { readonly text: string; readonly fix: Fix };

/** The hint for a misspelled word. */
export function replaceHint(find: string, replace: string): Hint {
  return { text: `Did you mean ${replace}?`, fix: { find, replace } };
}

/**
 * Compilers report every problem they find and continue; the caller adds file, line, policy and rule.
 * A compiler that reported an error returns undefined.
 */
export interface Reporter {
  /** `offset` is a position in the string at the path. */
  error(path: Path, code: ErrorCode, message: string, hint?: Hint, offset?: number): void;
  warn(path: Path, code: ErrorCode, message: string, hint?: Hint, offset?: number): void;
  /** The plain scalar at a path as its author wrote it: `yes`, `012`. Absent without source. */
  readonly writtenAt?: ((path: Path) => string | undefined) | undefined;
}

/** Unusable input or an invalid command line: the program prints the problems and exits with 2. */
export class InputError extends Error {
  override readonly name = 'InputError';
  readonly problems: readonly Problem[];
  constructor(problems: readonly Problem[]) {
    super(problems.map((problem) => problem.message).join('; '));
    this.problems = problems;
  }
}

export function inputError(
  code: Problem['code'],
  message: string,
  location: Partial<Pick<Problem, 'file' | 'line' | 'column' | 'hint' | 'pointer'>> = {},
): InputError {
  return new InputError([{ code, severity: 'error', message, pointer: '', ...location }]);
}
