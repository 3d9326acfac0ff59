import type { DiffLine } from '../engine/evaluation.ts';

/** A row of the unified view: a line, or unchanged lines that are folded. */
export type Row =
  | { readonly type: 'line'; readonly line: DiffLine; readonly index: number }
  | { readonly type: 'fold'; readonly from: number; readonly count: number };

/** Unchanged lines around a change. */
const margin = 3;
/** Folding fewer lines saves nothing. */
const fewest = 4;

/** Folds unchanged lines that are neither near a change nor in `kept`, unless their first line is in `open`. */
export function foldRows(
  lines: readonly DiffLine[],
  open: ReadonlySet<number>,
  kept: ReadonlySet<number> = new Set(),
): Row[] {
  const isShown = new Array<boolean>(lines.length).fill(false);
  for (const [index, { kind, after = -1 }] of lines.entries()) {
    if (kind === 'same' && !kept.has(after)) continue;
    isShown.fill(true, Math.max(0, index - margin), index + margin + 1);
  }
  const hasChange = isShown.includes(true);
  const rows: Row[] = [];
  for (let index = 0; index < lines.length; ) {
    let end = index;
    while (end < lines.length && !isShown[end]) end++;
    if (hasChange && end - index >= fewest && !open.has(index)) {
      rows.push({ type: 'fold', from: index, count: end - index });
      index = end;
      continue;
    }
    do {
      rows.push({ type: 'line', line: lines[index] as DiffLine, index });
      index++;
    } while (index < end);
  }
  return rows;
}

/** A row of the view with two columns. */
export interface Pair {
  readonly left?: DiffLine | undefined;
  readonly right?: DiffLine | undefined;
}

/** Puts removed lines beside the added lines that follow them. */
export function pairRows(rows: readonly Row[]): (Pair | Extract<Row, { type: 'fold' }>)[] {
  const pairs: (Pair | Extract<Row, { type: 'fold' }>)[] = [];
  let removed: DiffLine[] = [];
  let added: DiffLine[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) {
      pairs.push({ left: removed[at], right: added[at] });
    }
    removed = [];
    added = [];
  };
  for (const row of rows) {
    if (row.type === 'fold') {
      flush();
      pairs.push(row);
    } else if (row.line.kind === 'removed') {
      if (added.length > 0) flush();
      removed.push(row.line);
    } else if (row.line.kind === 'added') added.push(row.line);
    else {
      flush();
      pairs.push({ left: row.line, right: row.line });
    }
  }
  flush();
  return pairs;
}
