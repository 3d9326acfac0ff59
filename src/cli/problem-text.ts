import type { Problem } from '../problem.ts';
import type { Paint } from './output/style.ts';

/** One problem for a person: place, severity, message, code and hint. */
export function formatProblem(problem: Problem, paint: Paint): string {
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== undefined).join(':');
  const severity = problem.severity === 'error' ? paint('red', 'error') : paint('yellow', 'warning');
  const subject = [
    problem.policy === undefined ? '' : `policy ${problem.policy}`,
    problem.rule === undefined ? '' : `rule ${problem.rule}`,
    problem.pointer,
  ].filter((part) => part !== '');
  const about = subject.length === 0 ? '' : ` (${subject.join(', ')})`;
  const head = `${place === '' ? '' : `${paint('bold', place)}: `}${severity}: ${problem.message}${about} [${problem.code}]`;
  return problem.hint === undefined ? head : `${head}\n  ${paint('cyan', 'hint')}: ${problem.hint}`;
}
