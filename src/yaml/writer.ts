import { isArray, type Json, type JsonArray, type JsonObject } from '../json/value.ts';
import { doubleQuoted, formatText, isUnprintable } from './scalar-text.ts';

/** Formats a value as YAML in the style of kubectl: two spaces, lists aligned with their key, keys in their own order. */
export function writeYaml(value: Json): string {
  if (isArray(value) && value.length > 0) return writeList(value, '');
  if (isNonEmptyMap(value)) return writeMap(value, '');
  return `${writeInline(value, '')}\n`;
}

function writeMap(map: JsonObject, indent: string): string {
  let text = '';
  for (const key of Object.keys(map)) {
    const value = map[key] as Json;
    text += `${text === '' ? '' : indent}${writeKey(key)}:`;
    if (isArray(value) && value.length > 0) text += `\n${indent}${writeList(value, indent)}`;
    else if (isNonEmptyMap(value)) text += `\n${indent}  ${writeMap(value, `${indent}  `)}`;
    else text += ` ${writeInline(value, indent)}\n`;
  }
  return text;
}

function writeList(list: JsonArray, indent: string): string {
  let text = '';
  for (const item of list) {
    text += text === '' ? '- ' : `${indent}- `;
    if (isArray(item) && item.length > 0) text += writeList(item, `${indent}  `);
    else if (isNonEmptyMap(item)) text += writeMap(item, `${indent}  `);
    else text += `${writeInline(item, indent)}\n`;
  }
  return text;
}

function writeInline(value: Json, indent: string): string {
  switch (typeof value) {
    case 'string':
      return value.includes('\n') ? writeLines(value, indent) : formatText(value);
    case 'number':
      return writeNumber(value);
    case 'object':
      return value === null ? 'null' : isArray(value) ? '[]' : '{}';
    default:
      return String(value);
  }
}

/** A YAML 1.1 reader reads a number with an exponent but no fraction as a string. */
function writeNumber(value: number): string {
  const text = JSON.stringify(value);
  return /^-?[0-9]e/.test(text) ? text.replace('e', '.0e') : text;
}

/** Formats several lines as a literal block if possible. */
function writeLines(text: string, indent: string): string {
  const lines = text.split('\n');
  const startsOdd = /^[ \t\n]/.test(text);
  if (startsOdd || lines.some(isUnprintableLine) || text.trim() === '') return doubleQuoted(text);
  const chomping = !text.endsWith('\n') ? '-' : text.endsWith('\n\n') ? '+' : '';
  if (chomping !== '-') lines.pop();
  return `|${chomping}\n${lines.map((line) => (line === '' ? '' : `${indent}  ${line}`)).join('\n')}`;
}

function isUnprintableLine(line: string): boolean {
  return isUnprintable(line.replaceAll('\t', ' '));
}

function writeKey(key: string): string {
  return key.includes('\n') ? doubleQuoted(key) : formatText(key);
}

function isNonEmptyMap(value: Json): value is JsonObject {
  if (typeof value !== 'object' || value === null || isArray(value)) return false;
  for (const key in value) if (Object.hasOwn(value, key)) return true;
  return false;
}
