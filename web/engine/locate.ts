import type { Path } from '../../src/json/value.ts';
import { readDocuments } from '../../src/policy/documents.ts';
import type { Position } from './evaluation.ts';
import type { SourceText } from './workspace.ts';

/**
 * The position of a field in a source with several documents. `line` is any line of the document or its first one. Parses the source,
 * so this is for a click and not for each evaluation.
 */
export function locate(source: SourceText, line: number, path: Path): Position {
  const { documents } = readDocuments({ file: source.name, text: source.text });
  const starts = documents.map((document) => ({ document, at: document.positionOf([]) }));
  const found =
    starts.filter(({ at }) => at.line <= Math.max(line, starts[0]?.at.line ?? 1)).at(-1) ?? starts[0];
  return found?.document.positionOf(path) ?? { line, column: 1 };
}
