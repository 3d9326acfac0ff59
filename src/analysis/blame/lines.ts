import { diffArrays } from 'diff';
import { isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import type { Blame, Writer } from './blame.ts';
import { below } from './origin.ts';

/** A line of the old or the new YAML source. */
export interface BlamedLine<By = Writer> {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
  /** Line numbers, from 1, in the source that has the line. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  /** The rules that wrote or removed the values of the line, oldest first; empty for a line that is the same. */
  readonly writers: readonly By[];
  /** The values that begin on the line: pointers into the new object, or for a removed line into the old one. */
  readonly pointers: readonly string[];
}

/** The lines of both sources as in a diff of the whole object, each changed line with its writers. */
export function blameLines<By = Writer>(
  blame: Blame<By>,
  before: string,
  after: string,
): readonly BlamedLine<By>[] {
  const old = sourceLines(before, (pointer) => blame.removersOf(pointer));
  const fresh = sourceLines(after, (pointer) => blame.writersOf(pointer));
  const lines: BlamedLine<By>[] = [];
  let left = 0;
  let right = 0;
  const parts = diffArrays(
    old.map(tokenOf('before', (pointer) => pointer)),
    fresh.map(tokenOf('after', (pointer) => blame.replacedBy(pointer))),
  );
  for (const { added, removed, value } of parts) {
    for (const _ of value) {
      if (removed) lines.push(changedLine('removed', old[left++] as SourceLine<By>, left));
      else if (added) lines.push(changedLine('added', fresh[right++] as SourceLine<By>, right));
      else {
        left++;
        const { text, pointers } = fresh[right++] as SourceLine<By>;
        lines.push({ kind: 'same', text, before: left, after: right, writers: [], pointers });
      }
    }
  }
  return withNeighbours(lines);
}

/** A change of the first value of a list item moves the dash, so that a line changes whose values do not. */
function withNeighbours<By>(lines: readonly BlamedLine<By>[]): readonly BlamedLine<By>[] {
  const forward = carryWriters(lines);
  return carryWriters(forward.reverse()).reverse();
}

function carryWriters<By>(lines: readonly BlamedLine<By>[]): BlamedLine<By>[] {
  let writers: readonly By[] = [];
  return lines.map((line) => {
    if (line.kind === 'same' || line.writers.length > 0) writers = line.writers;
    return line.writers === writers ? line : { ...line, writers };
  });
}

function changedLine<By>(
  kind: 'added' | 'removed',
  { text, writers, pointers }: SourceLine<By>,
  number: number,
): BlamedLine<By> {
  return { kind, text, [kind === 'added' ? 'after' : 'before']: number, writers, pointers };
}

interface SourceLine<By> {
  readonly text: string;
  readonly pointers: readonly string[];
  readonly writers: readonly By[];
  /** A further line of a scalar of several lines. */
  readonly continues: boolean;
}

/**
 * A changed line never equals a line of the other source, so the lines differ exactly where the values do. Only the further lines
 * of a scalar are compared with those of the scalar that it replaced.
 */
function tokenOf(side: string, replaced: (pointer: string) => string | undefined) {
  return ({ text, pointers: [pointer = ''], writers, continues }: SourceLine<unknown>, index: number) => {
    if (writers.length === 0) return text;
    const counterpart = continues ? replaced(pointer) : undefined;
    return counterpart === undefined ? `\n${side} ${index}` : `\n${counterpart}\n${text}`;
  };
}

function sourceLines<By>(source: string, writersOf: (pointer: string) => readonly By[]): SourceLine<By>[] {
  const starts = valueLines(source);
  const texts = source.split('\n');
  if (texts.at(-1) === '') texts.pop();
  return texts.map((text, index) => {
    const { pointers = [], continues = false } = starts.get(index + 1) ?? {};
    const innermost = pointers.filter(
      (pointer) => !pointers.some((other) => other.startsWith(`${pointer}/`)),
    );
    return { text, pointers, continues, writers: [...new Set(innermost.flatMap(writersOf))] };
  });
}

interface ValueLine {
  readonly pointers: string[];
  readonly continues: boolean;
}

/** The pointers of the values that begin on each line. */
function valueLines(source: string): ReadonlyMap<number, ValueLine> {
  const lines = new Map<number, ValueLine>();
  const counter = new LineCounter();
  const document = parseDocument(source, { lineCounter: counter, logLevel: 'silent' });
  const start = (offset: number | undefined, pointer: string) => {
    if (offset === undefined) return;
    const { line } = counter.linePos(offset);
    const known = lines.get(line);
    if (known === undefined) lines.set(line, { pointers: [pointer], continues: false });
    else known.pointers.push(pointer);
  };
  const visit = (node: Node | null | undefined, pointer: string): void => {
    if (isMap(node)) for (const pair of node.items) visitPair(pair as Pair<Node, Node | null>, pointer);
    else if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) {
        start((item as Node).range?.[0], below(pointer, index));
        visit(item as Node, below(pointer, index));
      }
    } else if (isScalar(node) && node.range) {
      const { line } = counter.linePos(node.range[0]);
      const last = counter.linePos(Math.max(node.range[0], node.range[1] - 1)).line;
      for (let at = line + 1; at <= last; at++) lines.set(at, { pointers: [pointer], continues: true });
    }
  };
  const visitPair = ({ key, value }: Pair<Node, Node | null>, pointer: string) => {
    const path = below(pointer, isScalar(key) ? String(key.value) : '');
    start(key.range?.[0], path);
    visit(value, path);
  };
  visit(document.contents, '');
  return lines;
}
