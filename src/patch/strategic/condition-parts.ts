import { isArray, isObject, type Json, type JsonObject } from '../../json/value.ts';
import { parseAnchor } from './anchor-syntax.ts';

/** What the value of a condition anchor is compared with: all of it except `+()` keys. */
export function comparedPart(value: Json): Json {
  if (isArray(value)) return value.map(comparedPart);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([key]) => parseAnchor(key)?.type !== 'add');
  return Object.fromEntries(entries.map(([key, inner]) => [key, comparedPart(inner)])) as JsonObject;
}

/**
 * The overlay to merge where a condition holds: its `+()` keys, the keys that lead to them, and the conditions beside
 * them. Undefined if the condition contains no `+()`.
 *
 * @example addedPart({ medium: 'Memory', '+(sizeLimit)': '20Mi' }) // { '+(sizeLimit)': '20Mi' }
 */
export function addedPart(value: Json): Json | undefined {
  if (isArray(value)) {
    const items = value.map(addedPart).filter((item): item is Json => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return undefined;
  const kept: [string, Json][] = [];
  let adds = false;
  for (const [key, inner] of Object.entries(value)) {
    const anchor = parseAnchor(key);
    const isPlain = anchor === undefined;
    const below = isPlain ? addedPart(inner) : inner;
    if (below === undefined) continue;
    adds ||= isPlain || anchor.type === 'add' || addedPart(inner) !== undefined;
    kept.push([key, below]);
  }
  return adds ? (Object.fromEntries(kept) as JsonObject) : undefined;
}
