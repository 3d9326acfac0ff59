/** Returns why a set is refused, or undefined if it is accepted. */
export type RefusalCheck<T> = (items: readonly T[]) => Promise<string | undefined>;

/** Finds the items that are refused on their own, by bisection, with the reasons. */
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
