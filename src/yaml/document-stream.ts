/** The source of one YAML document of a stream. */
export interface DocumentText {
  readonly text: string;
  /** The first line of the document in the stream, 1-based. */
  readonly line: number;
}

/**
 * Splits a stream into YAML documents at lines that begin with `---`. Memory use depends on the largest document, not
 * on the stream. Documents with only blanks, comments and directives are omitted.
 */
export async function* splitDocuments(chunks: AsyncIterable<string>): AsyncGenerator<DocumentText> {
  const splitter = createSplitter();
  for await (const chunk of chunks) yield* splitter.push(chunk, false);
  yield* splitter.push('', true);
}

function createSplitter() {
  let pending = '';
  let line = 1;
  /** `pending` has no marker before this offset. */
  let scanned = 0;

  function* push(chunk: string, isLast: boolean): Generator<DocumentText> {
    pending += chunk;
    let start = 0;
    for (;;) {
      const end = nextMarker(pending, Math.max(start, scanned), isLast);
      if (end === -1) break;
      yield* take(pending.slice(start, end));
      start = end;
    }
    pending = pending.slice(start);
    scanned = Math.max(0, pending.length - markerLength);
    if (isLast) yield* take(pending);
  }

  function* take(text: string): Generator<DocumentText> {
    const marker = markerLine.exec(text);
    const body = marker === null ? text : text.slice(marker[0].length);
    if (hasContent(body)) yield { text: body, line: marker === null ? line : line + 1 };
    line += countLines(text);
  }

  return { push };
}

const markerLength = '\n---'.length;

/** A marker that is alone on its line is dropped, so that the source can be printed unchanged. */
const markerLine = /^---[ \t]*(?:#[^\n]*)?\r?(?:\n|$)/;

/** The offset of the next `---` line; -1 when there is none or it is incomplete. */
function nextMarker(text: string, from: number, isLast: boolean): number {
  for (let at = text.indexOf('\n---', from); at !== -1; at = text.indexOf('\n---', at + 1)) {
    const after = text[at + markerLength];
    if (after === undefined ? isLast : /\s/.test(after)) return at + 1;
    if (after === undefined) return -1;
  }
  return -1;
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function hasContent(text: string): boolean {
  return /^[ \t]*[^\s#%]/m.test(text);
}
