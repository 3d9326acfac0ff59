import type { Paint } from '../../offline/output/paint.ts';
import { replaceHidden } from '../../offline/output/visible.ts';

/** The line of a problem and its neighbors, with a caret below the column. Lines and columns are 1-based. */
export function codeFrame(
  text: string,
  location: { readonly line: number; readonly column: number },
  paint: Paint,
  width = 120,
): string {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const wanted = [location.line - 1, location.line, location.line + 1].filter(
    (line) => lines[line - 1] !== undefined,
  );
  const digits = String(wanted.at(-1) ?? location.line).length;
  const room = Math.max(width - digits - 5, 20);
  const cut = Math.max(0, location.column - Math.ceil(room * 0.8));
  const shown = (line: string) => {
    const visible = line.replaceAll('\t', ' ').slice(cut);
    const start = cut > 0 && line.length > 0 ? '…' : '';
    return visible.length + start.length > room
      ? `${start}${visible.slice(start.length, room - 1)}…`
      : `${start}${visible.slice(start.length)}`;
  };
  return wanted
    .filter((line) => line === location.line || lines[line - 1]?.trim() !== '')
    .flatMap((line) => {
      const isTarget = line === location.line;
      const gutter = `${isTarget ? '>' : ' '} ${String(line).padStart(digits)} |`;
      const content = replaceHidden(shown(lines[line - 1] ?? ''));
      const row = `${paint(isTarget ? ['bold'] : ['dim'], gutter)}${content === '' ? '' : ` ${content}`}`;
      if (!isTarget) return [row];
      const caret = `${' '.repeat(location.column - 1 - cut)}^`;
      return [row, `${paint(['dim'], `  ${' '.repeat(digits)} |`)} ${paint(['red', 'bold'], caret)}`];
    })
    .join('\n');
}
