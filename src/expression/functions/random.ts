import { spendSteps } from '../../json/budget.ts';
import { compileRegexp } from '../go/regexp.ts';
import { type CharacterRange, classOfEscape, complement, readClass } from './character-class.ts';
import { defineFunctions } from './define.ts';

export const randomFunctions = defineFunctions({
  random: {
    parameters: ['string'],
    returns: 'string',
    description: 'A random string that a regular expression matches.',
    example: { expression: "length(random('[a-c]{5}'))", result: 5 },
    volatile: true,
    call: (args) => {
      if (args.text(0) === '') return args.fail('no pattern provided');
      return args.attempt(() => {
        compileRegexp(args.text(0));
        return generateText(args.text(0), args.environment.random);
      });
    },
  },
});

type Random = () => number;
type Generate = (random: Random) => string;

const longestText = 65_536;
/** The maximum for `*` and `+`, as in Kyverno's library. */
const mostRepeats = 4096;
const printable: readonly CharacterRange[] = [[0x20, 0x7e]];

/** A string that the expression matches. `.` and negated classes give printable ASCII. The syntax is already checked. */
export function generateText(pattern: string, random: Random): string {
  const reader: Reader = { characters: Array.from(pattern), position: 0 };
  const generate = readAlternatives(reader);
  if (reader.position < reader.characters.length) throw new Error(`cannot generate a string for ${pattern}`);
  return generate(random);
}

interface Reader {
  readonly characters: readonly string[];
  position: number;
}

function peek(reader: Reader): string | undefined {
  return reader.characters[reader.position];
}

function rest(reader: Reader): string {
  spendSteps((reader.characters.length - reader.position) >> 1);
  return reader.characters.slice(reader.position).join('');
}

function readAlternatives(reader: Reader): Generate {
  const alternatives = [readSequence(reader)];
  while (peek(reader) === '|') {
    reader.position++;
    alternatives.push(readSequence(reader));
  }
  return (random) => alternatives[Math.floor(random() * alternatives.length)]?.(random) ?? '';
}

function readSequence(reader: Reader): Generate {
  const parts: Generate[] = [];
  for (let next = peek(reader); next !== undefined && next !== '|' && next !== ')'; next = peek(reader)) {
    parts.push(readRepeated(reader));
  }
  return (random) => {
    spendSteps(16 * parts.length);
    return bounded(parts.map((part) => part(random)).join(''));
  };
}

function bounded(text: string): string {
  if (text.length > longestText) throw new Error(`the string is longer than ${longestText} characters`);
  return text;
}

function readRepeated(reader: Reader): Generate {
  const generate = readAtom(reader);
  const [all, minimum, maximum] = readQuantifier(rest(reader));
  if (all === 0) return generate;
  reader.position += all;
  if (peek(reader) === '?') reader.position++;
  return (random) => {
    const count = minimum + Math.floor(random() * (maximum - minimum + 1));
    let text = '';
    for (let i = 0; i < count; i++) {
      spendSteps(16);
      text = bounded(text + generate(random));
    }
    return text;
  };
}

/** The quantifier's length, minimum and maximum; length 0 without a quantifier. */
function readQuantifier(text: string): readonly [number, number, number] {
  if (text.startsWith('*')) return [1, 0, mostRepeats];
  if (text.startsWith('+')) return [1, 1, mostRepeats];
  if (text.startsWith('?')) return [1, 0, 1];
  const match = /^\{(\d+)(,(\d*))?\}/.exec(text);
  if (match === null) return [0, 1, 1];
  const [all, least = '', comma, most] = match;
  const minimum = Number(least);
  const maximum = comma === undefined ? minimum : most === '' ? mostRepeats : Number(most);
  return [all.length, minimum, maximum];
}

function readAtom(reader: Reader): Generate {
  const first = peek(reader) ?? '';
  if (first === '(') return readGroup(reader);
  if (first === '[') {
    const [ranges, length] = readClass(rest(reader));
    reader.position += length;
    return oneOf(ranges);
  }
  if (first === '\\') return readEscape(reader);
  reader.position++;
  if (first === '.') return oneOf(printable);
  return first === '^' || first === '$' ? () => '' : () => first;
}

function readGroup(reader: Reader): Generate {
  const [opening = '('] = /^\((?:\?(?:P?<[^>]*>|[a-zA-Z-]*:?))?/.exec(rest(reader)) ?? [];
  reader.position += Array.from(opening).length;
  const generate = readAlternatives(reader);
  if (peek(reader) !== ')') throw new Error('missing closing )');
  reader.position++;
  return generate;
}

function readEscape(reader: Reader): Generate {
  const text = rest(reader);
  const anchor = /^\\[bBAz]/.exec(text);
  if (anchor !== null) {
    reader.position += 2;
    return () => '';
  }
  const [ranges, length] = classOfEscape(text);
  reader.position += length;
  return oneOf(ranges);
}

function oneOf(ranges: readonly CharacterRange[]): Generate {
  const usable = ranges.length === 0 ? complement([]) : ranges;
  const size = usable.reduce((sum, [low, high]) => sum + high - low + 1, 0);
  return (random) => {
    let index = Math.floor(random() * size);
    for (const [low, high] of usable) {
      if (index <= high - low) return String.fromCodePoint(low + index);
      index -= high - low + 1;
    }
    return '';
  };
}
