import { type ElementName, type LayoutElement, parseLayout } from './time-layout.ts';

export interface TimeFields {
  year?: number | undefined;
  month?: number | undefined;
  day?: number | undefined;
  yearDay?: number | undefined;
  hour?: number | undefined;
  minute?: number | undefined;
  second?: number | undefined;
  nanosecond?: number | undefined;
  afternoon?: boolean | undefined;
  offsetSeconds?: number | undefined;
  /** Affects only the output: Go reads the time before `GMT+3` as UTC. */
  shownOffsetSeconds?: number | undefined;
}

export class TimeSyntaxError extends Error {
  override readonly name = 'TimeSyntaxError';
  constructor(text: string, complaint: string) {
    super(`parsing time ${JSON.stringify(text)}: ${complaint}`);
  }
}

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** Consumes its element and returns the remaining input; undefined when the input does not start with it. */
type Read = (rest: string, fields: TimeFields, element: string) => string | undefined;

/** Parses `text` according to the layout. */
export function readTimeFields(layout: string, text: string): TimeFields {
  const fields: TimeFields = {};
  let rest = text;
  const parts = parseLayout(layout);
  for (const [index, part] of parts.entries()) {
    const reader = part.kind === 'literal' ? readLiteral : readers[part.reads];
    const left = reader(rest, fields, part.text);
    if (left === undefined) {
      const [whole, wanted] = [JSON.stringify(layout), JSON.stringify(part.text)];
      throw new Error(
        `parsing time ${JSON.stringify(text)} as ${whole}: cannot parse ${JSON.stringify(rest)} as ${wanted}`,
      );
    }
    rest = isSecond(part) && !isFraction(parts[index + 1]) ? readOptionalFraction(left, fields) : left;
  }
  if (rest !== '') throw new TimeSyntaxError(text, `extra text: ${JSON.stringify(rest)}`);
  checkRanges(fields, text);
  return fields;
}

function checkRanges(fields: TimeFields, text: string): void {
  const beyond = (value: number | undefined, low: number, high: number): boolean =>
    value !== undefined && (value < low || value > high);
  if (beyond(fields.month, 1, 12)) throw new TimeSyntaxError(text, 'month out of range');
  if (beyond(fields.hour, 0, fields.afternoon === undefined ? 23 : 12)) {
    throw new TimeSyntaxError(text, 'hour out of range');
  }
  if (beyond(fields.minute, 0, 59)) throw new TimeSyntaxError(text, 'minute out of range');
  if (beyond(fields.second, 0, 59)) throw new TimeSyntaxError(text, 'second out of range');
}

/** A space in the layout matches any number of spaces. */
const readLiteral: Read = (rest, _fields, literal) => {
  if (!literal.includes(' ')) return rest.startsWith(literal) ? rest.slice(literal.length) : undefined;
  let left = rest;
  for (const character of literal) {
    if (character === ' ') left = left.replace(/^ +/, '');
    else if (left.startsWith(character)) left = left.slice(character.length);
    else return undefined;
  }
  return left;
};

function digits(syntax: RegExp, store: (fields: TimeFields, value: number) => void): Read {
  return (rest, fields) => {
    const [text] = syntax.exec(rest) ?? [];
    if (text === undefined) return undefined;
    store(fields, Number(text));
    return rest.slice(text.length);
  };
}

function name(
  names: readonly string[],
  length: number,
  store: (fields: TimeFields, index: number) => void,
): Read {
  return (rest, fields) => {
    const index = names.findIndex((word) => startsWithIgnoringCase(rest, word.slice(0, length)));
    const word = names[index];
    if (word === undefined) return undefined;
    store(fields, index);
    return rest.slice(word.slice(0, length).length);
  };
}

function startsWithIgnoringCase(text: string, word: string): boolean {
  return text.slice(0, word.length).toLowerCase() === word.toLowerCase();
}

function storeMonth(fields: TimeFields, index: number): void {
  fields.month = index + 1;
}

const ignore = (): void => undefined;
const hour12 = (fields: TimeFields, value: number): void => {
  fields.hour = value;
};

/** Seconds may carry a fraction that the layout does not mention. */
function isSecond(part: LayoutElement): boolean {
  return part.kind === 'element' && (part.reads === 'second' || part.reads === 'paddedSecond');
}

function isFraction(part: LayoutElement | undefined): boolean {
  return part?.kind === 'element' && (part.reads === 'fraction' || part.reads === 'optionalFraction');
}

function nanoseconds(fraction: string): number {
  return Number(fraction.slice(1, 10).padEnd(9, '0'));
}

const readFraction: Read = (rest, fields, element) => {
  const fraction = rest.slice(0, element.length);
  if (!/^[.,]\d+$/.test(fraction) || fraction.length !== element.length) return undefined;
  fields.nanosecond = nanoseconds(fraction);
  return rest.slice(element.length);
};

function readOptionalFraction(rest: string, fields: TimeFields): string {
  const [fraction] = /^[.,]\d+/.exec(rest) ?? [];
  if (fraction === undefined) return rest;
  fields.nanosecond = nanoseconds(fraction);
  return rest.slice(fraction.length);
}

const noon =
  (am: string, pm: string): Read =>
  (rest, fields) => {
    const word = rest.slice(0, 2);
    if (word !== am && word !== pm) return undefined;
    fields.afternoon = word === pm;
    return rest.slice(2);
  };

/** `-0700` and variants. Layouts that begin with `Z` also accept `Z`. */
const readZone: Read = (rest, fields, element) => {
  if (element.startsWith('Z') && rest.startsWith('Z')) {
    fields.offsetSeconds = 0;
    return rest.slice(1);
  }
  const syntax = new RegExp(`^([+-])(\\d\\d)${element.slice(3).replace(/\d\d/g, '(\\d\\d)')}`);
  const match = syntax.exec(rest);
  if (match === null) return undefined;
  const [all, sign, hours, minutes = '0', secondsPart = '0'] = match;
  if (Number(hours) > 24 || Number(minutes) > 60 || Number(secondsPart) > 60) return undefined;
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(secondsPart);
  fields.offsetSeconds = sign === '-' ? -total : total;
  return rest.slice(all.length);
};

/** A zone abbreviation does not determine the offset, so it counts as UTC, as in Go. */
const readZoneName: Read = (rest, fields) => {
  const [all, hours] = /^(?:GMT([+-]\d{1,2})|UTC|[A-Z]{3,4}T?|[+-]\d\d)/.exec(rest) ?? [];
  if (all === undefined) return undefined;
  if (hours !== undefined) fields.shownOffsetSeconds = Number(hours) * 3600;
  return rest.slice(all.length);
};

const readers: Readonly<Record<ElementName, Read>> = {
  longMonth: name(months, 9, storeMonth),
  shortMonth: name(months, 3, storeMonth),
  month: digits(/^\d\d?/, (fields, value) => {
    fields.month = value;
  }),
  paddedMonth: digits(/^\d\d/, (fields, value) => {
    fields.month = value;
  }),
  longWeekday: name(weekdays, 9, ignore),
  shortWeekday: name(weekdays, 3, ignore),
  day: digits(/^\d\d?/, (fields, value) => {
    fields.day = value;
  }),
  blankDay: digits(/^ ?\d\d?/, (fields, value) => {
    fields.day = value;
  }),
  paddedDay: digits(/^\d\d/, (fields, value) => {
    fields.day = value;
  }),
  blankYearDay: digits(/^(?= *\d)[ \d]{3}/, (fields, value) => {
    fields.yearDay = value;
  }),
  yearDay: digits(/^\d{3}/, (fields, value) => {
    fields.yearDay = value;
  }),
  hour: digits(/^\d\d?/, (fields, value) => {
    fields.hour = value;
  }),
  hour12: digits(/^\d\d?/, hour12),
  paddedHour12: digits(/^\d\d/, hour12),
  minute: digits(/^\d\d?/, (fields, value) => {
    fields.minute = value;
  }),
  paddedMinute: digits(/^\d\d/, (fields, value) => {
    fields.minute = value;
  }),
  second: digits(/^\d\d?/, (fields, value) => {
    fields.second = value;
  }),
  paddedSecond: digits(/^\d\d/, (fields, value) => {
    fields.second = value;
  }),
  longYear: digits(/^\d{4}/, (fields, value) => {
    fields.year = value;
  }),
  year: digits(/^\d\d/, (fields, value) => {
    fields.year = value >= 69 ? value + 1900 : value + 2000;
  }),
  upperNoon: noon('AM', 'PM'),
  lowerNoon: noon('am', 'pm'),
  zoneName: readZoneName,
  zone: readZone,
  fraction: readFraction,
  optionalFraction: readOptionalFraction,
};
