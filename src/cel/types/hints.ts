import type { FunctionDeclaration } from './environment.ts';

/** A hint that names the most similar of the known names, when one is similar. */
export function similarName(name: string, known: Iterable<string>): string | undefined {
  const names = [...known];
  let best: string | undefined;
  let least = Math.min(3, Math.ceil(name.length / 2));
  for (const candidate of names) {
    if (candidate.startsWith('_') || candidate.includes('@')) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase(), least);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  best ??= withSameWord(name, names);
  return best === undefined ? undefined : `Did you mean '${best}'?`;
}

/** `upperAscii` for `toUpper`: a name with a word of at least four letters in common. */
function withSameWord(name: string, known: readonly string[]): string | undefined {
  const words = (name.match(/[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase());
  const long = words.filter(({ length }) => length >= 4);
  return known.find((candidate) => long.some((word) => candidate.toLowerCase().includes(word)));
}

/** Edits from one string to the other, or `limit` when there are as many or more. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit || a.length > 100) return limit;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return Math.min(row[b.length] ?? limit, limit);
}

/** A function that is written as a method, or the other way around. */
export function callStyleHint(
  { name, overloads }: FunctionDeclaration,
  argumentCount: number,
  method: boolean,
): string | undefined {
  if (!/^[a-zA-Z]/.test(name)) return undefined;
  const sameStyle = overloads.filter(({ member }) => member === method);
  if (sameStyle.length === 0) {
    return method ? `Call it as a function: ${name}(…).` : `Call it as a method: value.${name}(…).`;
  }
  if (sameStyle.some(({ parameters }) => parameters.length === argumentCount)) return undefined;
  const counts = new Set(sameStyle.map(({ parameters }) => parameters.length - (method ? 1 : 0)));
  return `${name} takes ${[...counts].sort((a, b) => a - b).join(' or ')} arguments.`;
}

const numeric: ReadonlySet<string> = new Set(['int', 'uint', 'double']);

/** How to make operands of different types fit. */
export function overloadHint(name: string, types: readonly string[]): string | undefined {
  const [first = '', second = ''] = types;
  if (name === '_==_' || name === '_!=_' || name === '@in') {
    return types.includes('null')
      ? 'Only objects, optionals, timestamps and durations can be null; wrap the other side in dyn(…).'
      : 'Wrap one side in dyn(…) to compare values of different types.';
  }
  if (/^_.*_$/.test(name) && numeric.has(first) && numeric.has(second)) {
    return `Convert one side: ${second}(…) or ${first}(…).`;
  }
  if (name === '_+_' && (first === 'string' || second === 'string'))
    return 'Convert the other side: string(…).';
  return name === '_?_:_' ? 'Both branches need the same type; wrap them in dyn(…).' : undefined;
}
