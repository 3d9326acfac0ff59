import { tryParseJson } from '../json/json-text.ts';
import type { Json } from '../json/value.ts';

export interface JsonValueText {
  readonly value: Json;
  /** 1-based. */
  readonly line: number;
}

/** Parses consecutive JSON values, such as JSON lines. Undefined when the text is anything else. */
export function parseJsonValues(text: string): JsonValueText[] | undefined {
  const whole = tryParseJson(text);
  if (whole !== undefined) return [{ value: whole, line: 1 }];
  const values: JsonValueText[] = [];
  let line = 1;
  let counted = 0;
  for (const [start, end] of topLevelRanges(text)) {
    const value = tryParseJson(text.slice(start, end));
    if (value === undefined) return undefined;
    for (; counted < start; counted++) if (text.charCodeAt(counted) === newline) line++;
    values.push({ value, line });
  }
  return values.length === 0 ? undefined : values;
}

const newline = 0x0a;

/** Start and end offsets of the top-level values. */
function* topLevelRanges(text: string): Generator<[number, number]> {
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      at = endOfString(text, at);
    } else if (character === '{' || character === '[') {
      if (depth === 0) {
        if (text.slice(start, at).trim() !== '') yield [start, at];
        start = at;
      }
      depth++;
    } else if (character === '}' || character === ']') {
      depth--;
      if (depth === 0) {
        yield [start, at + 1];
        start = at + 1;
      }
    }
  }
  if (text.slice(start).trim() !== '') yield [start, text.length];
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
