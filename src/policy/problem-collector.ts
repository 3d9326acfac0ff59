import type { ErrorCode } from '../errors.ts';
import { formatPointer } from '../json/pointer.ts';
import { type Json, type JsonObject, type Path, valueAt } from '../json/value.ts';
import type { Hint, Problem, Reporter } from '../problem.ts';
import type { Position } from './documents.ts';

export interface PolicySource {
  readonly file: string;
  /** Absent for documents without source text. */
  positionOf?(path: Path, offset?: number): Position;
  writtenAt?(path: Path): string | undefined;
  /** The value of a field, to find a position in its text where there is no source text. */
  valueAt?(path: Path): Json | undefined;
}

/** The source of a document that is an object of a cluster. */
export function documentSource(file: string, document: JsonObject): PolicySource {
  return { file, valueAt: (path) => valueAt(document, path) };
}

/** Collects the problems of one document and adds file, line, column, policy and rule. */
export interface ProblemCollector {
  readonly problems: readonly Problem[];
  readonly policy: string;
  /** A reporter whose paths are relative to `base`; `translate` maps the paths of rewritten documents first. */
  at(
    base: Path,
    options?: { rule?: string | undefined; translate?: ((path: Path) => Path) | undefined },
  ): Reporter;
  hasErrors(): boolean;
}

export function collectProblems(source: PolicySource, policy: string): ProblemCollector {
  const problems: Problem[] = [];
  const seen = new Set<string>();
  const invalidFields = new Set<string>();

  function add(
    severity: Problem['severity'],
    path: Path,
    code: ErrorCode,
    message: string,
    hint: Hint | undefined,
    rule: string | undefined,
    offset: number | undefined,
  ): void {
    const pointer = formatPointer(path);
    const identity = `${code} ${pointer} ${message} ${offset ?? ''}`;
    if (seen.has(identity) || (invalidFields.has(pointer) && !code.startsWith('KYM_FIELD_'))) return;
    seen.add(identity);
    // An invalid field is reported once, not again by the compiler.
    if (code.startsWith('KYM_FIELD_')) invalidFields.add(pointer);
    problems.push({
      code,
      severity,
      message: withPlace(message, source, path, offset),
      ...(typeof hint === 'object' ? { hint: hint.text, fix: hint.fix } : { hint }),
      pointer,
      file: source.file,
      ...source.positionOf?.(path, offset),
      policy,
      rule,
    });
  }

  return {
    problems,
    policy,
    at(base, { rule, translate = (path: Path) => path } = {}) {
      return {
        error: (path, code, message, hint, offset) =>
          add('error', [...base, ...translate(path)], code, message, hint, rule, offset),
        warn: (path, code, message, hint, offset) =>
          add('warning', [...base, ...translate(path)], code, message, hint, rule, offset),
        writtenAt: (path) => source.writtenAt?.([...base, ...translate(path)]),
      };
    },
    hasErrors: () => problems.some((problem) => problem.severity === 'error'),
  };
}

/** Without the source of a document there is no line and column, but the position in the string is known. */
function withPlace(message: string, source: PolicySource, path: Path, offset: number | undefined): string {
  if (offset === undefined || offset === 0 || source.positionOf !== undefined) return message;
  const text = source.valueAt?.(path);
  if (typeof text === 'string') {
    const lines = text.slice(0, offset).split('\n');
    return `${message} (at line ${lines.length}, column ${Array.from(lines.at(-1) ?? '').length + 1} of the expression)`;
  }
  return `${message} (at character ${offset + 1})`;
}

/** Forwards all problems and records whether there was an error: a part with errors is not compiled further. */
export function watchErrors(reporter: Reporter): Reporter & { readonly failed: boolean } {
  let failed = false;
  return {
    get failed() {
      return failed;
    },
    error(path, code, message, hint, offset) {
      failed = true;
      reporter.error(path, code, message, hint, offset);
    },
    warn: reporter.warn,
    writtenAt: reporter.writtenAt,
  };
}
