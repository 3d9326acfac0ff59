import { structuredPatch } from 'diff';
import type { Paint } from './paint.ts';
import { visible, visibleSource } from './visible.ts';

/** A unified diff of two texts; '' when they are equal. */
export function unifiedDiff(
  titles: { readonly before: string; readonly after: string },
  before: string,
  after: string,
  paint: Paint,
): string {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: 3 });
  if (hunks.length === 0) return '';
  const lines = [
    paint('bold', `--- ${visible(titles.before)}`),
    paint('bold', `+++ ${visible(titles.after)}`),
  ];
  for (const hunk of hunks) {
    const range = (start: number, count: number) => (count === 1 ? `${start}` : `${start},${count}`);
    const header = `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`;
    lines.push(paint('cyan', header));
    for (const line of hunk.lines) lines.push(paintLine(visibleSource(line), paint));
  }
  return `${lines.join('\n')}\n`;
}

function paintLine(line: string, paint: Paint): string {
  if (line.startsWith('+')) return paint('green', line);
  if (line.startsWith('-')) return paint('red', line);
  return line;
}
