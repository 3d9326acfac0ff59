import type { Paint } from '../offline/output/paint.ts';
import { visible } from '../offline/output/visible.ts';
import type { Problem } from '../problem.ts';

/** One problem for a person: location, severity, message, code and hint. */
export function formatProblem(problem: Problem, paint: Paint): string {
  const location = [problem.file, problem.line, problem.column]
    .filter((part) => part !== undefined)
    .join(':');
  const severity = problem.severity === 'error' ? paint('red', 'error') : paint('yellow', 'warning');
  const subject = [
    problem.policy === undefined ? '' : `policy ${problem.policy}`,
    problem.rule === undefined ? '' : `rule ${problem.rule}`,
    problem.pointer,
  ].filter((part) => part !== '');
  const context = subject.length === 0 ? '' : ` (${subject.join(', ')})`;
  const head = `${location === '' ? '' : `${paint('bold', visible(location))}: `}${severity}: ${visible(`${problem.message}${context}`)} [${problem.code}]`;
  const { line, sourceLine } = problem;
  const source =
    sourceLine === undefined ? '' : `\n  ${line ?? ''} | ${visible(sourceLine)}${caret(problem)}`;
  const hint = problem.hint === undefined ? '' : `\n  ${paint('cyan', 'hint')}: ${visible(problem.hint)}`;
  return `${head}${source}${hint}`;
}

/** A caret below the column of a problem inside an expression. A syntax error of YAML concerns the whole line. */
function caret({ line, column, pointer }: Problem): string {
  if (line === undefined || column === undefined || pointer === '') return '';
  return `\n  ${' '.repeat(String(line).length)} | ${' '.repeat(column - 1)}^`;
}
