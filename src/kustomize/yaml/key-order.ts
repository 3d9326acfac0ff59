const letter = /^\p{L}$/u;
const digit = /^\p{Nd}$/u;

/**
 * The key order of kustomize: by character, with other characters before letters, and numbers by value (`a2` before `a10`).
 */
export function compareKeys(left: string, right: string): number {
  if (left === right) return 0;
  const a = [...left];
  const b = [...right];
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const x = a[at] as string;
    const y = b[at] as string;
    if (x !== y) return compareFrom(a, b, at);
  }
  return a.length - b.length;
}

/** Compares at the first difference. */
function compareFrom(a: readonly string[], b: readonly string[], at: number): number {
  const x = a[at] as string;
  const y = b[at] as string;
  const xIsLetter = letter.test(x);
  const yIsLetter = letter.test(y);
  if (xIsLetter && yIsLetter) return order(x, y);
  if (xIsLetter || yIsLetter) return yIsLetter ? -1 : 1;
  // Leading zeros do not count; zeros inside a number do.
  const start = (x === '0' || y === '0') && followsNumber(a, at) ? 1n : 0n;
  const left = numberAt(a, at, start);
  const right = numberAt(b, at, start);
  if (left.value !== right.value) return left.value < right.value ? -1 : 1;
  if (left.end !== right.end) return left.end - right.end;
  return order(x, y);
}

function followsNumber(text: readonly string[], at: number): boolean {
  for (let before = at - 1; before >= 0 && digit.test(text[before] as string); before--) {
    if (text[before] !== '0') return true;
  }
  return false;
}

function numberAt(text: readonly string[], at: number, start: bigint): { value: bigint; end: number } {
  let value = start;
  let end = at;
  while (end < text.length && digit.test(text[end] as string)) {
    value = BigInt.asIntN(64, value * 10n + BigInt(((text[end] as string).codePointAt(0) ?? 0) - 0x30));
    end++;
  }
  return { value, end };
}

function order(x: string, y: string): number {
  return (x.codePointAt(0) ?? 0) - (y.codePointAt(0) ?? 0);
}
