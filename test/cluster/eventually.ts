/** Polls until a value is as expected; fails with the last value. */
export async function eventually<T>(
  read: () => T | Promise<T>,
  holds: (value: T) => boolean,
  seconds = 15,
): Promise<T> {
  const endsAt = Date.now() + seconds * 1000;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > endsAt) throw new Error(`still ${JSON.stringify(value)} after ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
