/** Where the cursor is in a YAML document, found by indentation: the text may be incomplete. */
export interface YamlPlace {
  /** The keys from the document to the cursor, `-` for an item of a list. */
  readonly path: readonly string[];
  /** The key or value before the cursor, on its line. */
  readonly word: string;
  /** Whether the cursor is in a key. */
  readonly isKey: boolean;
  /** The expression before the cursor, if the cursor is inside `{{ }}`. */
  readonly expression?: string | undefined;
  /** The first line of the document. */
  readonly start: number;
}

const keyLine = /^(\s*)((?:- +)*)("[^"]*"|'[^']*'|[^\s#:"'-][^:#]*?|[+<=^X]?\([^)]*\))\s*:(?=\s|$)(.*)$/;

/** `line` and `column` count from 0. */
export function placeAt(lines: readonly string[], line: number, column: number): YamlPlace {
  let start = line;
  while (start > 0 && !/^---(\s|$)/.test(lines[start] ?? '')) start--;
  const before = (lines[line] ?? '').slice(0, column);
  const open = before.lastIndexOf('{{');
  const inside = open >= 0 && !before.slice(open).includes('}}') ? before.slice(open + 2) : undefined;
  const match = keyLine.exec(before);
  const [, indent = '', dashes = '', word = ''] = /^(\s*)((?:- +)*)(.*)$/.exec(before) ?? [];
  const items = itemsOf(indent.length, dashes);
  const first = items[0] ?? { column: indent.length, name: '' };
  const path = [...parentsOf(lines, start, line, first), ...items.map(({ name }) => name)];
  if (match === null) return { path, word, isKey: inside === undefined, expression: inside, start };
  const value = (match[4] ?? '').trimStart();
  return { path: [...path, unquoted(match[3] ?? '')], word: value, isKey: false, expression: inside, start };
}

/** A key or a dash, with its column. */
interface Entry {
  readonly column: number;
  readonly name: string;
}

function itemsOf(indent: number, dashes: string): Entry[] {
  return Array.from(dashes.matchAll(/-/g), ({ index }) => ({ column: indent + index, name: '-' }));
}

/** The parents of an entry: the nearest entries above it that begin further left. */
function parentsOf(lines: readonly string[], start: number, line: number, of: Entry): string[] {
  const path: string[] = [];
  let child = of;
  for (let at = line - 1; at >= start; at--) {
    for (const entry of entriesOf(lines[at] ?? '').reverse()) {
      // A list may begin at the column of its key.
      const mayBeLevel = child.name === '-' && entry.name !== '-';
      if (entry.column > child.column || (entry.column === child.column && !mayBeLevel)) continue;
      path.unshift(entry.name);
      child = entry;
    }
  }
  return path;
}

function entriesOf(text: string): Entry[] {
  if (/^\s*(#|$)/.test(text)) return [];
  const [, indent = '', dashes = ''] = /^(\s*)((?:- +)*)/.exec(text) ?? [];
  const items = itemsOf(indent.length, dashes);
  const match = keyLine.exec(text);
  if (match === null) return items;
  return [...items, { column: indent.length + dashes.length, name: unquoted(match[3] ?? '') }];
}

function unquoted(key: string): string {
  return key.replace(/^(["'])(.*)\1$/, '$2');
}
