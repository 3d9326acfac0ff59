/** Asks whether a set is refused, and why. */
export type RefusalCheck<T> = (items: readonly T[]) => Promise<string | undefined>;

/** Those that are refused even alone, with the reason; found by halving, so that one bad item among many costs little. */
export async function findOffenders<T>(
  items: readonly T[],
  refusalOf: RefusalCheck<T>,
): Promise<ReadonlyMap<T, string>> {
  const found = new Map<T, string>();
  async function search(part: readonly T[]): Promise<void> {
    const [first] = part;
    if (first === undefined) return;
    const refusal = await refusalOf(part);
    if (refusal === undefined) return;
    if (part.length === 1) {
      found.set(first, refusal);
      return;
    }
    const middle = part.length >> 1;
    await search(part.slice(0, middle));
    await search(part.slice(middle));
  }
  await search(items);
  return found;
}
