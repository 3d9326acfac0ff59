import type { Json } from './value.ts';

const texts = new WeakMap<object, string>();
const notMadeYet = '';

/** For values that policies state: the same objects come up in patch after patch, so their text is made once. */
export function shareText<Value extends Json & object>(value: Value): Value {
  texts.set(value, notMadeYet);
  return value;
}

/** The value as JSON. */
export function jsonText(value: Json): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const shared = texts.get(value);
  if (shared === undefined) return JSON.stringify(value);
  if (shared !== notMadeYet) return shared;
  const text = JSON.stringify(value);
  texts.set(value, text);
  return text;
}

const needsNoEscape = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** Twice as fast as the general way where nothing needs an escape. */
function quote(text: string): string {
  return needsNoEscape.test(text) ? `"${text}"` : JSON.stringify(text);
}
