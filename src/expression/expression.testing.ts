import { formatPointer } from '../json/pointer.ts';
import { type JsonObject, member } from '../json/value.ts';
import type { Reporter } from '../problem.ts';
import type { Environment, Scope } from './scope.ts';

/** For tests: a clock that stands still, and no randomness. */
export const stillEnvironment: Environment = { now: () => new Date('2024-01-02T03:04:05Z'), random: () => 0 };

/** For tests: a scope in which the members of an object are bound. */
export function scopeOf(bindings: JsonObject): Scope {
  return {
    lookup: (name) => member(bindings, name),
    snapshot: () => bindings,
    environment: stillEnvironment,
  };
}

/** For tests: a reporter that keeps problems as `pointer code: message | hint`. */
export function collectProblems(): { readonly problems: string[]; readonly reporter: Reporter } {
  const problems: string[] = [];
  const keep: Reporter['error'] = (path, code, message, hint) => {
    problems.push(`${formatPointer(path)} ${code}: ${message}${hint === undefined ? '' : ` | ${hint}`}`);
  };
  return { problems, reporter: { error: keep, warn: keep } };
}
