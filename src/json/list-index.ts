/** A path step that cannot be taken. The message contains keys and indexes, never values of the document. */
export class StepError extends Error {
  override readonly name = 'StepError';
}

const zero = '0'.charCodeAt(0);
const strictIndex = /^(?:0|[1-9][0-9]*)$/;
const lenientIndex = /^[-+]?[0-9]+$/;

/**
 * The list index of a token, or undefined when it is not an index. Lenient also accepts a sign and
 * leading zeros; a negative number counts from the end.
 */
export function parseIndex(token: string, lenient: boolean): number | undefined {
  if (token.length === 1) {
    const digit = token.charCodeAt(0) - zero;
    return digit >= 0 && digit <= 9 ? digit : undefined;
  }
  return (lenient ? lenientIndex : strictIndex).test(token) ? Number(token) : undefined;
}

/** The index of an existing item, or undefined when it is out of range. */
export function itemIndex(length: number, token: string, lenient: boolean): number | undefined {
  const index = parseIndex(token, lenient);
  if (index === undefined) throw new StepError(`'${token}' is not a list index`);
  const place = index < 0 ? index + length : index;
  return place >= 0 && place < length ? place : undefined;
}

/** Where `add` inserts: `-` and, lenient, `-1` are the end, `-2` is before the last item. */
export function insertionIndex(length: number, token: string, lenient: boolean): number {
  if (token === '-') return length;
  const index = parseIndex(token, lenient);
  if (index === undefined) throw new StepError(`'${token}' is not a list index`);
  const place = index < 0 ? index + length + 1 : index;
  if (place >= 0 && place <= length) return place;
  throw new StepError(
    `index ${token} is outside the list, which has ${length} ${length === 1 ? 'item' : 'items'}`,
  );
}
