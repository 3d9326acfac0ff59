/** Creates a value when it is first asked for. */
export function lazy<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}

/** Computes a value once for each object, which must be immutable. */
export function oncePer<Item extends object, Value>(compute: (item: Item) => Value): (item: Item) => Value {
  const known = new WeakMap<Item, { readonly value: Value }>();
  return (item) => {
    const found = known.get(item);
    if (found !== undefined) return found.value;
    const value = compute(item);
    known.set(item, { value });
    return value;
  };
}
