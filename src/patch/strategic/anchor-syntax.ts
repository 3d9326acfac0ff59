/** An overlay key in parentheses: `(k)` condition, `<(k)` global condition, `+(k)` add if not present. */
export interface Anchor {
  readonly type: 'condition' | 'global' | 'add' | 'unsupported';
  /** The key inside the parentheses. */
  readonly key: string;
  /** The key as written, trimmed. */
  readonly text: string;
}

const anchorSyntax = /^([+<=X^])?\((.+)\)$/s;
const typeOfModifier: Readonly<Record<string, Anchor['type']>> = {
  '': 'condition',
  '<': 'global',
  '+': 'add',
};

/** Undefined for a key without anchor. */
export function parseAnchor(key: string): Anchor | undefined {
  const text = key.trim();
  if (!text.endsWith(')')) return undefined;
  const match = anchorSyntax.exec(text);
  const inner = match?.[2];
  if (inner === undefined) return undefined;
  return { type: typeOfModifier[match?.[1] ?? ''] ?? 'unsupported', key: inner, text };
}

/** The anchor that an author probably meant by a key such as `+(team`, `+team)` or `(+team)`; undefined for others. */
export function intendedAnchor(key: string): string | undefined {
  const text = key.trim();
  // Variables may contain parentheses.
  if (text.includes('{{')) return undefined;
  const [, outer = '', inner = '', name = ''] = /^([+<]?)\(?\s*([+<]?)\(?([\w./-]+)\)?\)?$/.exec(text) ?? [];
  if (name === '' || !/[()]/.test(text)) return undefined;
  const intended = `${outer || inner}(${name})`;
  return intended === text ? undefined : intended;
}
