import { escapeToken } from '../pointer.ts';

/** The texts of a path. Objects of a kind have few paths, so these are made once and shared by all diffs. */
export class PathText {
  /** An RFC 6901 pointer. */
  readonly pointer: string;
  /** The same within a JSON string. */
  readonly escaped: string;
  readonly #isKept: boolean;
  #children: Map<string | number, PathText> | undefined;
  #add: string | undefined;
  #replace: string | undefined;

  private constructor(pointer: string, escaped: string, isKept: boolean) {
    this.pointer = pointer;
    this.escaped = escaped;
    this.#isKept = isKept;
  }

  /** The path of the document. */
  static root(): PathText {
    if (kept >= mostKept) {
      kept = 0;
      whole = undefined;
    }
    whole ??= new PathText('', '', true);
    return whole;
  }

  child(token: string | number): PathText {
    const known = this.#children?.get(token);
    if (known !== undefined) return known;
    const child = typeof token === 'number' ? this.#item(token) : this.#member(token);
    if (child.#isKept) {
      kept++;
      this.#children ??= new Map();
      this.#children.set(token, child);
    }
    return child;
  }

  #item(index: number): PathText {
    const pointer = `${this.pointer}/${index}`;
    return new PathText(pointer, `${this.escaped}/${index}`, index < keptItems && this.#keeps(pointer));
  }

  #member(key: string): PathText {
    const token = escapeToken(key);
    const pointer = `${this.pointer}/${token}`;
    const escaped = `${this.escaped}/${JSON.stringify(token).slice(1, -1)}`;
    return new PathText(pointer, escaped, this.#keeps(pointer));
  }

  /** Whether to keep a path below this one. */
  #keeps({ length }: string): boolean {
    return this.#isKept && kept < mostKept && length <= longestKept;
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
/** Items of long lists would take the place of all other paths. */
const keptItems = 64;
let kept = 0;
let whole: PathText | undefined;

/** Between two operations: the end of the first one. */
export const separator = '},';

/** Joined, because V8 copies a joined string faster than one that was concatenated. */
function beginning(op: string, path: string): string {
  return [separator, '{"op":"', op, '","path":"', path, '","value":'].join('');
}
