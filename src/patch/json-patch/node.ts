import type { Json } from '../../json/value.ts';

/** A parsed patch with its variables. */
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
  /** With the original `{{ }}`. */
  readonly text: string;
  /**
   * How the rendered string is read. `text`: a quoted or block scalar stays a string. `plain`: an unquoted scalar is
   * parsed as YAML. `typed`: a string of a document, where a single variable keeps its type.
   */
  readonly reading: 'text' | 'plain' | 'typed';
}

/** The value of a constant key, when the node is a map. */
export function entryOf(node: PatchNode, name: string): PatchNode | undefined {
  if (node.type !== 'map') return undefined;
  return node.entries.find(({ key }) => key.type === 'constant' && key.value === name)?.value;
}
