import { spendSteps } from '../../json/budget.ts';

/** Code points from the first to the second, both included. */
export type CharacterRange = readonly [number, number];

const digits: readonly CharacterRange[] = [[48, 57]];
const lower: readonly CharacterRange[] = [[97, 122]];
const upper: readonly CharacterRange[] = [[65, 90]];
const letters = [...upper, ...lower];
const word = [...digits, ...upper, [95, 95] as const, ...lower];
const blanks: readonly CharacterRange[] = [
  [9, 10],
  [12, 13],
  [32, 32],
];
const punctuation: readonly CharacterRange[] = [
  [33, 47],
  [58, 64],
  [91, 96],
  [123, 126],
];

const namedClasses: ReadonlyMap<string, readonly CharacterRange[]> = new Map([
  ['alnum', [...digits, ...letters]],
  ['alpha', letters],
  ['ascii', [[0, 127] as const]],
  ['blank', [[9, 9] as const, [32, 32] as const]],
  ['cntrl', [[0, 31] as const, [127, 127] as const]],
  ['digit', digits],
  ['graph', [[33, 126] as const]],
  ['lower', lower],
  ['print', [[32, 126] as const]],
  ['punct', punctuation],
  ['space', [[9, 13] as const, [32, 32] as const]],
  ['upper', upper],
  ['word', word],
  ['xdigit', [...digits, [65, 70] as const, [97, 102] as const]],
]);

const controls: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['f', 12],
  ['t', 9],
  ['n', 10],
  ['r', 13],
  ['v', 11],
]);

/** Everything printable in ASCII that is not in the ranges. */
export function complement(ranges: readonly CharacterRange[]): readonly CharacterRange[] {
  spendSteps(ranges.length * 8);
  const result: CharacterRange[] = [];
  for (let code = 0x20; code <= 0x7e; code++) {
    if (!ranges.some(([low, high]) => code >= low && code <= high)) result.push([code, code]);
  }
  return result;
}

/** The class of the escape sequence at the start of `text`, and its length in characters. */
export function classOfEscape(text: string): readonly [readonly CharacterRange[], number] {
  const hexadecimal = /^\\x(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2}))/.exec(text);
  if (hexadecimal !== null) {
    return [single(Number.parseInt(hexadecimal[1] ?? hexadecimal[2] ?? '0', 16)), hexadecimal[0].length];
  }
  const letter = Array.from(text)[1] ?? '\\';
  const ranges = perlClass(letter);
  if (ranges !== undefined) return [ranges, 2];
  if (letter === 'p' || letter === 'P' || letter === 'Q')
    throw new Error(`cannot generate a string for \\${letter}`);
  return [single(controls.get(letter) ?? letter.codePointAt(0) ?? 0), 2];
}

function perlClass(letter: string): readonly CharacterRange[] | undefined {
  const ranges = new Map([
    ['d', digits],
    ['w', word],
    ['s', blanks],
  ]).get(letter.toLowerCase());
  return ranges === undefined || letter === letter.toLowerCase() ? ranges : complement(ranges);
}

function single(code: number): readonly CharacterRange[] {
  return [[code, code]];
}

/** The class in brackets at the start of `text`, and its length in characters. */
export function readClass(text: string): readonly [readonly CharacterRange[], number] {
  const characters = Array.from(text);
  const negated = characters[1] === '^';
  const ranges: CharacterRange[] = [];
  let position = negated ? 2 : 1;
  for (let first = true; first || characters[position] !== ']'; first = false) {
    if (position >= characters.length) throw new Error('missing closing ]');
    const [item, length] = readItem(characters.slice(position).join(''));
    position += length;
    const start = item[0];
    const isRange = characters[position] === '-' && characters[position + 1] !== ']' && start !== undefined;
    if (isRange && item.length === 1 && start[0] === start[1]) {
      const [end, endLength] = readItem(characters.slice(position + 1).join(''));
      ranges.push([start[0], end[0]?.[1] ?? start[1]]);
      position += 1 + endLength;
    } else ranges.push(...item);
  }
  return [negated ? complement(ranges) : ranges, position + 1];
}

function readItem(text: string): readonly [readonly CharacterRange[], number] {
  spendSteps(text.length >> 1);
  const named = /^\[:(\^?)([a-z]+):\]/.exec(text);
  const ranges = named === null ? undefined : namedClasses.get(named[2] ?? '');
  if (named !== null && ranges !== undefined) {
    return [named[1] === '^' ? complement(ranges) : ranges, named[0].length];
  }
  return text.startsWith('\\') ? classOfEscape(text) : [single(text.codePointAt(0) ?? 0), 1];
}
