import { escapeToken } from '../pointer.ts';

/** The texts of a path. Objects of a kind have few paths, so these are made once and shared by all diffs. */
export class PathText {
  /** An RFC 6901 pointer. */
  readonly pointer: string;
  /** The same within a JSON string. */
  readonly escaped: string;
  #children: Map<string | number, PathText> | undefined;
  #add: string | undefined;
  #replace: string | undefined;

  private constructor(pointer: string, escaped: string) {
    this.pointer = pointer;
    this.escaped = escaped;
  }

  /** The path of the document. */
  static root(): PathText {
    if (kept >= mostKept) {
      kept = 0;
      whole = undefined;
    }
    whole ??= new PathText('', '');
    return whole;
  }

  child(token: string | number): PathText {
    const known = this.#children?.get(token);
    if (known !== undefined) return known;
    const text = typeof token === 'number' ? String(token) : escapeToken(token);
    const child = new PathText(
      `${this.pointer}/${text}`,
      `${this.escaped}/${JSON.stringify(text).slice(1, -1)}`,
    );
    if (kept < mostKept && child.pointer.length <= longestKept) {
      kept++;
      this.#children ??= new Map();
      this.#children.set(token, child);
    }
    return child;
  }

  /** An operation of a patch as JSON: from the end of the operation before it to its own value. */
  operation(op: 'add' | 'replace'): string {
    if (op === 'add') {
      this.#add ??= beginning(op, this.escaped);
      return this.#add;
    }
    this.#replace ??= beginning(op, this.escaped);
    return this.#replace;
  }
}

// Keys come from users, so what is kept is limited.
const mostKept = 4_096;
const longestKept = 256;
let kept = 0;
let whole: PathText | undefined;

/** Between two operations: the end of the first one. */
export const separator = '},';

/** Joined, because V8 copies a joined string faster than one that was concatenated. */
function beginning(op: string, path: string): string {
  return [separator, '{"op":"', op, '","path":"', path, '","value":'].join('');
}
