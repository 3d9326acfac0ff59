import type { Paint } from '../../offline/output/paint.ts';
import { visible } from '../../offline/output/visible.ts';
import type { PlacedVerdict } from './migrate.ts';
import { type Places, placeNames, type Totals, totalsOf } from './places.ts';
import type { Verdict } from './verdict.ts';

const words: Readonly<Record<Verdict, string>> = {
  same: 'runs unchanged',
  differs: 'differs',
  refused: 'does not load',
  stays: 'stays with Kyverno',
};
const colors = { same: 'green', differs: 'yellow', refused: 'red', stays: 'dim' } as const;

/** A table with a row for each policy, followed by the details of that policy. */
export function formatMigration(
  verdicts: readonly PlacedVerdict[],
  summary: Readonly<Record<Verdict, number>>,
  paint: Paint,
): string {
  const heading = ['POLICY', 'VERDICT', 'RULES HERE', 'FOR KYVERNO', '1.19', '1.20', 'MAP', 'FILE'];
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
  return `${[paint('bold', line(heading)), ...body, '', summaryOf(summary), '', ...totalLines(totalsOf(verdicts))].join('\n')}\n`;
}

function rowOf({ policy, kind, verdict, runs, stays, places, file, line }: PlacedVerdict): string[] {
  const isPlain = kind === 'ClusterPolicy' || kind === 'Policy';
  const types = [...new Set(stays.map(({ type }) => type))].map(
    (type) => `${stays.filter((each) => each.type === type).length} ${type}`,
  );
  return [
    isPlain ? policy : `${kind} ${policy}`,
    kind === 'MutatingAdmissionPolicy' && verdict === 'stays' ? 'stays with Kubernetes' : words[verdict],
    String(runs.length),
    types.join(', ') || (verdict === 'stays' && !isPlain ? 'all' : '-'),
    ...(['kyverno-1.19', 'kyverno-1.20', 'kubernetes'] as const).map((place) => places[place].runs),
    `${file}:${line}`,
  ].map(visible);
}

function detailsOf({ verdict, differences, errors, stays, runs, places }: PlacedVerdict): readonly string[] {
  return [
    ...differences.map(
      ({ rule, message, see }) => `${rule === '' ? '' : `rule ${rule}: `}${message} (kymera errors ${see})`,
    ),
    ...errors.map(({ line, message, code }) => `line ${line ?? 1}: ${message} [${code}]`),
    ...(verdict !== 'stays' && runs.length > 0 && stays.length > 0
      ? [`${stays.map(({ rule }) => rule).join(', ')}: leave to Kyverno, in a separate policy`]
      : []),
    ...reasonsAgainst(places),
  ];
}

const placeTitles: Readonly<Record<keyof Places, string>> = {
  kymera: 'Kymera',
  'kyverno-1.19': 'Kyverno 1.19',
  'kyverno-1.20': 'Kyverno 1.20 and later',
  kubernetes: 'Kubernetes (MAP)',
};

/** Why the policy does not run in some places; each reason once. */
function reasonsAgainst(places: Places): readonly string[] {
  const byReason = new Map<string, string[]>();
  for (const place of ['kyverno-1.19', 'kyverno-1.20', 'kubernetes'] as const) {
    const { runs, reason } = places[place];
    if (runs !== 'no' || reason === undefined) continue;
    byReason.set(reason, [...(byReason.get(reason) ?? []), placeTitles[place]]);
  }
  return [...byReason].map(([reason, names]) => `not on ${names.join(' and ')}: ${reason}`);
}

function totalLines(totals: Totals): readonly string[] {
  const rows = placeNames.map((place) => {
    const { yes, converted, no } = totals[place];
    return [placeTitles[place], String(yes), String(converted), String(no)];
  });
  const all = [['RUNS ON', 'AS IT IS', 'CONVERTED', 'NOT'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function summaryOf({ same, differs, refused, stays }: Readonly<Record<Verdict, number>>): string {
  return [
    `${same} run unchanged`,
    `${differs} differ`,
    `${refused} do not load`,
    `${stays} stay with Kyverno`,
  ].join(', ');
}
