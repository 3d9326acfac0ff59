import type { Paint } from '../../offline/output/paint.ts';
import { visible } from '../../offline/output/visible.ts';
import type { PolicyVerdict, Verdict } from './verdict.ts';

const words: Readonly<Record<Verdict, string>> = {
  same: 'runs unchanged',
  differs: 'differs',
  refused: 'does not load',
  stays: 'stays with Kyverno',
};
const colors = { same: 'green', differs: 'yellow', refused: 'red', stays: 'dim' } as const;

/** A table with a row for each policy, followed by the details of that policy. */
export function formatMigration(
  verdicts: readonly PolicyVerdict[],
  summary: Readonly<Record<Verdict, number>>,
  paint: Paint,
): string {
  const heading = ['POLICY', 'VERDICT', 'RULES HERE', 'FOR KYVERNO', 'FILE'];
  const rows = verdicts.map(rowOf);
  const widths = heading.map((_, index) =>
    Math.max(...[heading, ...rows].map((row) => row[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[], verdict?: Verdict) =>
    cells
      .map((cell, index) => {
        const padded = cell.padEnd(index === cells.length - 1 ? 0 : (widths[index] ?? 0));
        return index === 1 && verdict !== undefined ? paint(colors[verdict], padded) : padded;
      })
      .join('  ')
      .trimEnd();
  const body = verdicts.flatMap((verdict, index) => [
    line(rows[index] ?? [], verdict.verdict),
    ...detailsOf(verdict).map((detail) => `    ${visible(detail)}`),
  ]);
  return `${[paint('bold', line(heading)), ...body, '', summaryOf(summary)].join('\n')}\n`;
}

function rowOf({ policy, kind, verdict, runs, stays, file, line }: PolicyVerdict): string[] {
  const isPlain = kind === 'ClusterPolicy' || kind === 'Policy';
  const types = [...new Set(stays.map(({ type }) => type))].map(
    (type) => `${stays.filter((each) => each.type === type).length} ${type}`,
  );
  return [
    isPlain ? policy : `${kind} ${policy}`,
    words[verdict],
    String(runs.length),
    types.join(', ') || (verdict === 'stays' && !isPlain ? 'all' : '-'),
    `${file}:${line}`,
  ].map(visible);
}

function detailsOf({ verdict, differences, errors, stays, runs }: PolicyVerdict): readonly string[] {
  return [
    ...differences.map(
      ({ rule, message, see }) => `${rule === '' ? '' : `rule ${rule}: `}${message} (kymera errors ${see})`,
    ),
    ...errors.map(({ line, message, code }) => `line ${line ?? 1}: ${message} [${code}]`),
    ...(verdict !== 'stays' && runs.length > 0 && stays.length > 0
      ? [`${stays.map(({ rule }) => rule).join(', ')}: leave to Kyverno, in a separate policy`]
      : []),
  ];
}

function summaryOf({ same, differs, refused, stays }: Readonly<Record<Verdict, number>>): string {
  return [
    `${same} run unchanged`,
    `${differs} differ`,
    `${refused} do not load`,
    `${stays} stay with Kyverno`,
  ].join(', ');
}
