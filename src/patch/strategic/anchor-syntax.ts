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
