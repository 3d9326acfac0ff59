import type { Paint } from '../../offline/output/paint.ts';
import { visible } from '../../offline/output/visible.ts';
import type { Problem } from '../../problem.ts';
import { codeFrame } from '../output/code-frame.ts';
import type { Validation } from './report.ts';

/** Problems for a person, each with its source lines, and a summary. */
export function formatValidation(
  validation: Validation,
  texts: ReadonlyMap<string, string>,
  paint: Paint,
  columns: number | undefined,
): string {
  const parts = validation.problems.map((problem) => formatProblem(problem, texts, paint, columns));
  return [...parts, summary(validation, paint)].join('\n');
}

function formatProblem(
  problem: Problem,
  texts: ReadonlyMap<string, string>,
  paint: Paint,
  columns: number | undefined,
): string {
  const { file, line, column, hint } = problem;
  const location = [file, line, column].filter((part) => part !== undefined).join(':');
  const severity = problem.severity === 'error' ? paint('red', 'error') : paint('yellow', 'warning');
  const lines = [
    `${paint('bold', visible(location))}: ${severity}: ${visible(problem.message)} ${paint('dim', `[${problem.code}]`)}`,
  ];
  const text = texts.get(file ?? '');
  if (text !== undefined && line !== undefined && column !== undefined) {
    lines.push(codeFrame(text, { line, column }, paint, columns));
  }
  const subject = [
    problem.policy === undefined || problem.policy === '' ? '' : `policy ${problem.policy}`,
    problem.rule === undefined || problem.rule === '' ? '' : `rule ${problem.rule}`,
    problem.pointer,
  ].filter((part) => part !== '');
  if (subject.length > 0) lines.push(`  ${paint('dim', visible(`in: ${subject.join(', ')}`))}`);
  if (hint !== undefined) lines.push(`  ${paint('cyan', 'hint')}: ${visible(hint)}`);
  return `${lines.join('\n')}\n`;
}

function summary({ policies, exceptions, errors, warnings }: Validation, paint: Paint): string {
  const good = [
    policies > 0 || exceptions === 0 ? count(policies, 'policy', 'policies') : '',
    exceptions > 0 ? count(exceptions, 'exception', 'exceptions') : '',
  ].filter((part) => part !== '');
  const found = [
    errors > 0 ? paint('red', count(errors, 'error', 'errors')) : '',
    warnings > 0 ? paint('yellow', count(warnings, 'warning', 'warnings')) : '',
  ].filter((part) => part !== '');
  const verdict = found.length === 0 ? paint('green', 'no problems') : found.join(', ');
  return `${good.join(', ')} loaded: ${verdict}\n`;
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
