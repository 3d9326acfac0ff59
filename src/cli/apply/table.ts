import type { Outcome } from '../../engine/outcome.ts';
import type { Evaluated } from '../../offline/evaluator.ts';
import { titleOf } from '../../offline/object-identity.ts';
import type { Resource } from '../input/resource-reader.ts';
import type { Paint } from '../output/style.ts';
import { statusOf } from '../test/judgement.ts';

const heading = ['RESOURCE', 'POLICY', 'RULE', 'RESULT', 'MESSAGE'];

/** So many rows decide how wide columns are: the table need not be held as a whole. */
const measuredRows = 500;
const colors = { pass: 'green', skip: 'yellow', error: 'red' } as const;

/** A row for each rule that looked at an object. */
export function tableFormatter(paint: Paint, columns: number | undefined) {
  let waiting: string[][] = [];
  let widths: readonly number[] | undefined;
  const line = (row: readonly string[], isHeading: boolean) => {
    const cells = row.map((cell, index) => cell.padEnd(index === 4 ? 0 : (widths?.[index] ?? 0)));
    const plainText = cells.join('  ').trimEnd();
    const cut = columns !== undefined && plainText.length > columns ? plainText.slice(0, columns - 1) : '';
    const text = cut === '' ? plainText : `${cut}…`;
    if (isHeading) return `${paint('bold', text)}\n`;
    const color = colors[row[3] as keyof typeof colors];
    return `${color === undefined ? text : text.replace(/ (?:pass|skip|error)(?= |$)/, (word) => paint(color, word))}\n`;
  };
  const flush = () => {
    if (widths === undefined) {
      const measured = [heading, ...waiting];
      widths = heading.map((_, index) => Math.max(...measured.map((row) => (row[index] ?? '').length)));
      waiting.unshift(heading);
    }
    const text = waiting.map((row) => line(row, row === heading)).join('');
    waiting = [];
    return text;
  };
  return {
    object: (resource: Resource, evaluated: Evaluated | undefined) => {
      for (const outcome of evaluated?.outcomes ?? []) waiting.push(rowOf(resource, outcome));
      return widths === undefined && waiting.length < measuredRows ? '' : flush();
    },
    end: () => flush(),
  };
}

function rowOf({ object }: Resource, outcome: Outcome): string[] {
  const { policy, rule, message } = outcome;
  const firstLine = message.split('\n', 1)[0] ?? '';
  return [titleOf(object), policy.key, rule.name, statusOf(outcome) ?? 'skip', firstLine];
}
