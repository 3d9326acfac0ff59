import type { Path } from '../../json/value.ts';

/** A line with its branches. */
export interface Branch {
  readonly text: string;
  readonly below: readonly Branch[];
  /** The part of the rule that the line is about. */
  readonly rulePath?: Path | undefined;
  /** The field of the object that the line is about. */
  readonly objectPath?: Path | undefined;
}

/** With `columns`, longer lines are wrapped inside the tree. */
export function drawTree(root: Branch, columns = Number.POSITIVE_INFINITY): string {
  const lines = wrapText(root.text, columns);
  drawBelow(root.below, '', lines, columns);
  return `${lines.join('\n')}\n`;
}

function drawBelow(branches: readonly Branch[], indent: string, lines: string[], columns: number): void {
  for (const [index, branch] of branches.entries()) {
    const isLast = index === branches.length - 1;
    const [first = '', ...rest] = wrapText(branch.text, columns - indent.length - 3);
    const below = `${indent}${isLast ? '   ' : '│  '}`;
    lines.push(`${indent}${isLast ? '└─ ' : '├─ '}${first}`);
    const trunk = branch.below.length > 0 ? '│ ' : '  ';
    for (const line of rest) lines.push(`${below}${trunk}${line}`);
    drawBelow(branch.below, below, lines, columns);
  }
}

/** Wraps a text at spaces into lines of at most `columns` characters. Color codes do not count. */
function wrapText(text: string, columns: number): string[] {
  const width = Math.max(20, columns);
  if (visibleLength(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  // The lines after the first are indented by two characters.
  const room = () => (lines.length === 0 ? width : width - 2);
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && visibleLength(longer) > room()) {
      lines.push(line);
      line = word;
    } else line = longer;
    while (visibleLength(line) > room() && !line.includes('\u001b')) {
      lines.push(line.slice(0, room()));
      line = line.slice(room());
    }
  }
  return line === '' ? lines : [...lines, line];
}

function visibleLength(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: color codes begin with one
  return text.replaceAll(/\u001b\[[0-9;]*m/g, '').length;
}

/** `match.any[0].resources.kinds` */
export function dotted(path: Path): string {
  return path.reduce<string>((text, token) => {
    if (typeof token === 'number') return `${text}[${token}]`;
    return text === '' ? token : `${text}.${token}`;
  }, '');
}
