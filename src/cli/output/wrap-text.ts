/** Cuts a text into lines of at most `columns` characters, at blanks where there are any. Colours take no room. */
export function wrapText(text: string, columns: number): string[] {
  const width = Math.max(20, columns);
  if (visibleLength(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  // The lines after the first stand two characters further right.
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
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  return text.replaceAll(/\u001b\[[0-9;]*m/g, '').length;
}
