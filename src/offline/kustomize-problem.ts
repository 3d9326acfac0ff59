import type { Path } from '../json/value.ts';
import type { KustomizeError, KustomizeLocation } from '../kustomize/kustomize-error.ts';
import { readDocuments } from '../policy/documents.ts';
import type { Problem } from '../problem.ts';

/** An error of a build, with the line of its field. `readText` reads the file again and may throw: only errors need the line. */
export function kustomizeProblem(error: KustomizeError, readText: (file: string) => string): Problem {
  const { file, field, hint, sourceLine } = error.place;
  return {
    code: error.code,
    severity: 'error',
    message: field === undefined ? error.message : `${field}: ${error.message}`,
    pointer: '',
    file,
    line: lineOf(error.place, readText),
    sourceLine,
    hint,
  };
}

function lineOf(
  { file, field, line }: KustomizeLocation,
  readText: (file: string) => string,
): number | undefined {
  if (line !== undefined || file === undefined || field === undefined || field.includes(': ')) return line;
  const path = fieldPath(field);
  try {
    const text = readText(file);
    // A file of replacements is a list.
    if (!field.startsWith('[')) return readDocuments({ file, text }).documents[0]?.positionOf(path).line;
    const [document] = readDocuments({ file, text: `list:\n${text}` }).documents;
    return document === undefined ? undefined : document.positionOf(['list', ...path]).line - 1;
  } catch {
    return undefined;
  }
}

/** `patches[0].path` as a path. */
export function fieldPath(field: string): Path {
  return [...field.matchAll(/[^.[\]]+/g)].map(([token]) => (/^\d+$/.test(token) ? Number(token) : token));
}
