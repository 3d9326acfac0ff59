import type { Writer } from '../../analysis/blame/blame.ts';
import type { BlamedLine } from '../../analysis/blame/lines.ts';
import type { Paint } from './paint.ts';
import { visible, visibleSource } from './visible.ts';

/** Lines of context around a change. */
const context = 3;

/** A diff in which each changed line begins with the rule that wrote it; '' when no line changed. */
export function blameText(title: string, lines: readonly BlamedLine[], paint: Paint): string {
  const isShown = nearChanges(lines);
  if (!isShown.includes(true)) return '';
  const authors = lines.map(({ writers }) => authorOf(writers));
  const width = Math.max(...authors.map((author) => author.length));
  const printed = [paint('bold', visible(title))];
  for (const [index, line] of lines.entries()) {
    if (!isShown[index]) continue;
    if (printed.length > 1 && !isShown[index - 1]) printed.push(paint('dim', '…'));
    const author = (authors[index] ?? '').padEnd(width);
    printed.push(`${paint('cyan', author)} ${contentOf(line, paint)}`);
  }
  return `${printed.join('\n')}\n`;
}

/** The last writer, and the rules whose value it replaced. */
function authorOf(writers: readonly Writer[]): string {
  const names = [
    ...new Set(writers.map(({ policy, rule }) => visible(`${policy.key}/${rule.name}`))),
  ].reverse();
  return names.length < 2 ? (names[0] ?? '') : `${names[0]} (over ${names.slice(1).join(', ')})`;
}

function contentOf({ kind, text }: BlamedLine, paint: Paint): string {
  const shown = visibleSource(text);
  if (kind === 'added') return paint('green', `+ ${shown}`);
  return kind === 'removed' ? paint('red', `- ${shown}`) : `  ${shown}`;
}

function nearChanges(lines: readonly BlamedLine[]): boolean[] {
  const isShown = lines.map(() => false);
  for (const [index, { kind }] of lines.entries()) {
    if (kind !== 'same') isShown.fill(true, Math.max(0, index - context), index + context + 1);
  }
  return isShown;
}
