import { spendBytes, spendList, spendSteps } from '../../json/budget.ts';

/** Characters are code points, as in Go: a surrogate pair is one. */
export function characters(text: string): string[] {
  spendList(text.length);
  return Array.from(text);
}

/** Replaces up to `count` occurrences (all when negative). An empty search string matches between all characters. */
export function replaceText(text: string, search: string, replacement: string, count: number): string {
  if (count === 0 || search === replacement) return text;
  if (search === '') return interleave(text, replacement, count);
  const parts = text.split(search);
  spendList(parts.length);
  const replaced = count < 0 ? parts.length - 1 : Math.min(count, parts.length - 1);
  spendBytes(text.length + replaced * replacement.length);
  const head = parts.slice(0, replaced + 1).join(replacement);
  return [head, ...parts.slice(replaced + 1)].join(search);
}

function interleave(text: string, insertion: string, count: number): string {
  const units = characters(text);
  const limit = count < 0 ? units.length + 1 : count;
  spendBytes(text.length + (units.length + 1) * insertion.length);
  let result = '';
  for (let i = 0; i <= units.length; i++) result += (i < limit ? insertion : '') + (units[i] ?? '');
  return result;
}

export function splitText(text: string, separator: string): string[] {
  if (separator === '') return characters(text);
  // A list of short strings takes several times the memory of its text.
  spendBytes(text.length * 2);
  return text.split(separator);
}

export function trimCutset(text: string, cutset: string): string {
  const cut = new Set(characters(cutset));
  const units = characters(text);
  let start = 0;
  let end = units.length;
  while (start < end && cut.has(units[start] ?? '')) start++;
  while (end > start && cut.has(units[end - 1] ?? '')) end--;
  return units.slice(start, end).join('');
}

/** Go maps each character to one character, so `ß` stays `ß`. */
export function toUpper(text: string): string {
  return mapCharacters(text, (character) => character.toUpperCase());
}

export function toLower(text: string): string {
  return mapCharacters(text, (character) => character.toLowerCase());
}

export function equalFold(a: string, b: string): boolean {
  return a === b || toLower(toUpper(a)) === toLower(toUpper(b));
}

function mapCharacters(text: string, change: (text: string) => string): string {
  if (isAscii(text)) return change(text);
  return characters(text)
    .map((character) => {
      const mapped = change(character);
      return characters(mapped).length === 1 ? mapped : character;
    })
    .join('');
}

function isAscii(text: string): boolean {
  spendSteps(text.length >> 4);
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}
