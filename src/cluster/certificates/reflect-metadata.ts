type Store = WeakMap<object, Map<unknown, unknown>>;

interface ReflectWithMetadata {
  getMetadata?: ((key: unknown, target: object) => unknown) | undefined;
  getOwnMetadata?: ((key: unknown, target: object) => unknown) | undefined;
  defineMetadata?: ((key: unknown, value: unknown, target: object) => void) | undefined;
}

/** The certificate library's dependency injection needs these three functions of the old metadata proposal to load. */
export function provideReflectMetadata(): void {
  const reflect = Reflect as ReflectWithMetadata;
  if (reflect.getMetadata !== undefined) return;
  const store: Store = new WeakMap();
  const read = (key: unknown, target: object) => store.get(target)?.get(key);
  reflect.getOwnMetadata = read;
  reflect.getMetadata = (key, target) => {
    for (let at: object | null = target; at !== null; at = Object.getPrototypeOf(at)) {
      if (store.get(at)?.has(key)) return read(key, at);
    }
    return undefined;
  };
  reflect.defineMetadata = (key, value, target) => {
    const entries = store.get(target) ?? new Map<unknown, unknown>();
    store.set(target, entries.set(key, value));
  };
}
