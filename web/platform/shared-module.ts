/**
 * An ES module with these exports. A text or a subtree that occurs several times is written once, so that the page is smaller.
 * Runs when the page is built.
 */
export function sharedModule(exports: Readonly<Record<string, unknown>>): string {
  const counts = new Map<string, number>();
  for (const value of Object.values(exports)) countParts(value, counts);
  const names = new Map<string, string>();
  const constants: string[] = [];

  function write(value: unknown): string {
    const key = JSON.stringify(value);
    // A name and its declaration take some bytes, too.
    if (key.length < 16 || counts.get(key) === 1) return writeParts(value);
    const known = names.get(key);
    if (known !== undefined) return known;
    const text = writeParts(value);
    const name = `_${constants.length.toString(36)}`;
    names.set(key, name);
    constants.push(`const ${name} = ${text};`);
    return name;
  }

  function writeParts(value: unknown): string {
    if (Array.isArray(value)) return `[${value.map(write).join()}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    // Computed: a plain `__proto__` would set the prototype.
    return `{${Object.entries(value)
      .map(([key, member]) => `[${JSON.stringify(key)}]:${write(member)}`)
      .join()}}`;
  }

  const exported = Object.entries(exports).map(([name, value]) => `export const ${name} = ${write(value)};`);
  return [...constants, ...exported].join('\n');
}

/** Counts what is written: the parts of a shared part occur once in the module. */
function countParts(value: unknown, counts: Map<string, number>): void {
  const key = JSON.stringify(value);
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  if (count > 1 || typeof value !== 'object' || value === null) return;
  for (const member of Object.values(value)) countParts(member, counts);
}
