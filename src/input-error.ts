import type { Problem } from './problem.ts';

/** Input or a command line that cannot be used: the program prints the problems and ends with 2. */
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
  place: Partial<Pick<Problem, 'file' | 'line' | 'column' | 'hint' | 'pointer'>> = {},
): InputError {
  return new InputError([{ code, severity: 'error', message, pointer: '', ...place }]);
}
