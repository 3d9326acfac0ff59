import { isArray, type Json } from '../value.ts';

/**
 * Whether the value is shorter than that as JSON text (escapes inside strings are not counted). Stops looking once the
 * limit is reached, so the cost follows the limit and not the value's size.
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
  for (const key of Object.keys(value)) {
    if (length >= limit) return length;
    length += key.length + 4 + measure((value as Record<string, Json>)[key] as Json, limit - length);
  }
  return length;
}
