import { Buffer } from 'node:buffer';
import { isArray, type Json, type JsonArray, type JsonObject } from '../../json/value.ts';
import { compareKeys } from './key-order.ts';
import { hasBreak, yamlKey, yamlLongKey, yamlText } from './text.ts';

/** Longer keys are printed on their own line after `? `. */
const longestKey = 128;

/** Prints a resource like kustomize: sorted keys, two spaces, lists at the indentation of their key. */
export function printYaml(object: JsonObject): string {
  return isEmptyMap(object) ? '{}\n' : printMap(object, 0);
}

/** The lines of a map; the first without its indentation. */
function printMap(map: JsonObject, indent: number): string {
  const pad = ' '.repeat(indent);
  let text = '';
  for (const key of sortedKeys(map)) {
    if (text !== '') text += pad;
    const value = map[key] as Json;
    if (isLongKey(key)) {
      text += `? ${yamlLongKey(key, indent + 2)}\n${pad}: ${printNode(value, indent + 2)}`;
      continue;
    }
    const written = `${yamlKey(key)}:`;
    text += written;
    text += printValue(value, indent, indent + written.length);
  }
  return text;
}

function isLongKey(key: string): boolean {
  if (hasBreak(key)) return true;
  return key.length * 3 > longestKey && Buffer.byteLength(key) > longestKey;
}

/** Prints a value after `- `, or after the `: ` of a long key. */
function printNode(value: Json, indent: number): string {
  if (isArray(value) && value.length > 0) return printList(value, indent);
  if (isMap(value)) return printMap(value, indent);
  return `${printScalar(value, indent, indent)}\n`;
}

/** Prints a value after `key:`, including the line end. */
function printValue(value: Json, indent: number, column: number): string {
  if (isArray(value) && value.length > 0) {
    return `\n${' '.repeat(indent)}${printList(value, indent)}`;
  }
  if (isMap(value)) return `\n${' '.repeat(indent + 2)}${printMap(value, indent + 2)}`;
  return ` ${printScalar(value, column + 1, indent + 2)}\n`;
}

function printList(list: JsonArray, indent: number): string {
  const pad = ' '.repeat(indent);
  let text = '';
  for (const item of list) {
    text += `${text === '' ? '' : pad}- ${printNode(item, indent + 2)}`;
  }
  return text;
}

function printScalar(value: Json, column: number, indent: number): string {
  switch (typeof value) {
    case 'string':
      return yamlText(value, column, indent);
    case 'number':
      return printNumber(value);
    case 'object':
      return value === null ? 'null' : isArray(value) ? '[]' : '{}';
    default:
      return String(value);
  }
}

/** Integers beyond 64 bits are printed like fractions, with an exponent from a million on. */
function printNumber(value: number): string {
  if (Number.isInteger(value) && value < 2 ** 64 && value >= -(2 ** 63))
    return String(value === 0 ? 0 : value);
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return plainFraction(value);
  const digits = String(Math.abs(power)).padStart(2, '0');
  return `${mantissa}e${power < 0 ? '-' : '+'}${digits}`;
}

function plainFraction(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(20).replace(/0+$/, '') : text;
}

const keyOrders = new Map<string, readonly string[]>();

/** Caches the sorted keys: thousands of resources have maps with the same keys. */
function sortedKeys(map: JsonObject): readonly string[] {
  const keys = Object.keys(map);
  if (keys.length < 2) return keys;
  const shape = keys.join('\n');
  const known = keyOrders.get(shape);
  if (known !== undefined) return known;
  const sorted = keys.sort(compareKeys);
  if (shape.length < 400 && keyOrders.size < 5000) keyOrders.set(shape, sorted);
  return sorted;
}

function isMap(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !isArray(value) && !isEmptyMap(value);
}

function isEmptyMap(map: JsonObject): boolean {
  for (const key in map) if (Object.hasOwn(map, key)) return false;
  return true;
}
