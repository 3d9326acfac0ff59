import type { Json } from '../../json/value.ts';

/** A parsed patch text whose variables are not filled in yet. */
export type PatchNode =
  | { readonly type: 'constant'; readonly value: Json }
  | PatchTemplate
  | { readonly type: 'list'; readonly items: readonly PatchNode[] }
  | { readonly type: 'map'; readonly entries: readonly PatchEntry[] };

export interface PatchEntry {
  readonly key: PatchNode;
  readonly value: PatchNode;
}

export interface PatchTemplate {
  readonly type: 'template';
  /** With the `{{ }}` of the source put back. */
  readonly text: string;
  /**
   * How what the variables yield is read. `text`: a quoted or block scalar stays text. `plain`: an unquoted scalar is
   * read as YAML reads it. `typed`: a string of a document, where a single variable keeps its type.
   */
  readonly reading: 'text' | 'plain' | 'typed';
}

/** The value under a key, when the node is a map and that key holds no variables. */
export function entryOf(node: PatchNode, name: string): PatchNode | undefined {
  if (node.type !== 'map') return undefined;
  return node.entries.find(({ key }) => key.type === 'constant' && key.value === name)?.value;
}
