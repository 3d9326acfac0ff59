import { isArray, type Json } from '../value.ts';

/**
 * Whether the value as JSON is shorter than the limit (escapes are not counted). Stops at the limit, so the cost
 * depends on the limit, not on the size of the value.
 */
export function textIsShorterThan(value: Json, limit: number): boolean {
  return measure(value, limit) < limit;
}

function measure(value: Json, limit: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return String(value).length;
  let length = 2;
  if (isArray(value)) {
    for (const item of value) {
      if (length >= limit) return length;
      length += measure(item, limit - length) + 1;
    }
    return length;
  }
  for (const key in value) {
    if (length >= limit) return length;
    length += key.length + 4 + measure((value as Record<string, Json>)[key] as Json, limit - length);
  }
  return length;
}
