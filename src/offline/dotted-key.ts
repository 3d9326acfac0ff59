/** The steps of a key in a values file: `a.b.c`; a step with dots is in double quotes, `a."b.c"`. */
export function parseDottedKey(text: string): string[] {
  const steps: string[] = [];
  for (let at = 0; at <= text.length; ) {
    if (text[at] === '"') {
      const end = endOfQuotes(text, at);
      steps.push(text.slice(at + 1, end).replaceAll('""', '"'));
      at = end + 2;
    } else {
      const dot = text.indexOf('.', at);
      const end = dot === -1 ? text.length : dot;
      steps.push(text.slice(at, end));
      at = end + 1;
    }
  }
  return steps;
}

function endOfQuotes(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] !== '"') continue;
    if (text[at + 1] !== '"') return at;
    at++;
  }
  return text.length;
}
