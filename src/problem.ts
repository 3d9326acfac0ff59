import type { ErrorCode } from './errors.ts';
import type { Path } from './json/value.ts';

/** Something wrong in a document, with everything a person needs to find and mend it. */
export interface Problem {
  readonly code: ErrorCode;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly hint?: string | undefined;
  /** RFC 6901 pointer into the document. */
  readonly pointer: string;
  readonly file?: string | undefined;
  /** 1-based. */
  readonly line?: number | undefined;
  /** 1-based. */
  readonly column?: number | undefined;
  readonly policy?: string | undefined;
  readonly rule?: string | undefined;
}

/**
 * Compilers report every problem they find and go on; the caller adds file, line, policy and rule.
 * A compiler that reported an error returns undefined.
 */
export interface Reporter {
  error(path: Path, code: ErrorCode, message: string, hint?: string): void;
  warn(path: Path, code: ErrorCode, message: string, hint?: string): void;
}
