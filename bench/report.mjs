// Collects the figures of a run and prints them as they come. Each has a ratio to a baseline of the same run.

/** A ratio that is worse by more than this share is named by `--compare`. */
const tolerance = 1.2;

export function createReport(print = console.log) {
  const figures = [];
  let printed;
  return {
    figures,
    /**
     * `to` names the baseline of `ratio`. `bar` is an upper limit: `{ value }` or `{ ratio }`, or a lower limit of the ratio: `{ atLeast }`.
     * `more` says that a larger ratio is better.
     */
    figure(part, name, value, unit, { ratio, to, bar, more = false, ...data } = {}) {
      const missed = bar !== undefined && !isMet(bar, value, ratio);
      figures.push({ part, name, value, unit, ratio, to, bar, more, missed, ...data });
      if (part !== printed) print(`\n${part}`);
      printed = part;
      const ratioText = ratio === undefined ? '' : `${round(ratio)} × ${to}`;
      const verdict = bar === undefined ? '' : `${barText(bar, unit)}: ${missed ? 'MISSED' : 'ok'}`;
      print(
        `  ${name.padEnd(56)}${`${round(value)} ${unit}`.padStart(14)}   ${ratioText.padEnd(44)} ${verdict}`.trimEnd(),
      );
    },
    missed: () => figures.filter(({ missed }) => missed).map(({ part, name }) => `${part}: ${name}`),
  };
}

/** How many ratios both runs have, and those that got worse by more than a fifth, as lines. */
export function compareFigures(former, current) {
  const byName = new Map(former.map((figure) => [`${figure.part}: ${figure.name}`, figure.ratio]));
  const pairs = current.flatMap((figure) => {
    const before = byName.get(`${figure.part}: ${figure.name}`);
    return typeof figure.ratio === 'number' && typeof before === 'number' ? [{ ...figure, before }] : [];
  });
  const worse = pairs.flatMap(({ part, name, ratio, to, more, before }) => {
    const growth = more ? before / ratio : ratio / before;
    if (growth <= tolerance) return [];
    return [
      `${part}: ${name}: ${round(ratio)} × ${to}, was ${round(before)} (${Math.round((growth - 1) * 100)} % worse)`,
    ];
  });
  return { compared: pairs.length, worse };
}

export function barText(bar, unit) {
  if (bar.atLeast !== undefined) return `ratio at least ${bar.atLeast}`;
  return bar.ratio === undefined ? `under ${bar.value} ${unit}` : `ratio at most ${bar.ratio}`;
}

/** Three digits, and no decimals for large numbers. */
export function round(value) {
  if (!Number.isFinite(value)) return 'unknown';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

function isMet(bar, value, ratio) {
  if (bar.atLeast !== undefined) return ratio >= bar.atLeast;
  return bar.ratio === undefined ? value < bar.value : ratio <= bar.ratio;
}
