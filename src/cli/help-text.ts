const exampleIndent = '      ';

/** Wraps help at the width of the terminal: paragraphs are filled, examples continue on the next line. */
export function wrapHelp(text: string, width: number): string {
  const wrapped: string[] = [];
  let paragraph: string[] = [];
  const flush = () => {
    if (paragraph.length > 0) wrapped.push(...fill(paragraph.join(' '), width, ''));
    paragraph = [];
  };
  for (const line of text.split('\n')) {
    if (/^\S/.test(line) && !line.endsWith(':')) {
      paragraph.push(line);
      continue;
    }
    flush();
    wrapped.push(...(line.length <= width ? [line] : wrapLine(line, width)));
  }
  flush();
  return wrapped.join('\n');
}

/** The explanation of an example goes below it. */
function wrapLine(line: string, width: number): readonly string[] {
  const [, command, explanation] = /^( +\$ .*?) {2,}(\S.*)$/.exec(line) ?? [];
  if (command !== undefined && explanation !== undefined) {
    return [command, ...fill(explanation, width, exampleIndent)];
  }
  // A command stays on one line, so that it can be copied.
  const indent = /^ */.exec(line)?.[0] ?? '';
  return line.startsWith(`${indent}$ `) ? [line] : fill(line.trim(), width, indent);
}

function fill(text: string, width: number, indent: string): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, indent + line];
}
