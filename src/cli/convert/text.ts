import { diffArrays } from 'diff';
import { type Document, parseDocument } from 'yaml';
import { equal } from '../../json/equal.ts';
import { stringifyJson } from '../../json/json-text.ts';
import { readDocuments } from '../../policy/documents.ts';

/** Prints a document in the style of its source. */
export function print(document: Document, text: string, indentSeq: boolean): string {
  return document.toString({
    lineWidth: 0,
    indent: /^ {4}\S/m.test(text) && !/^ {2}\S/m.test(text) ? 4 : 2,
    indentSeq,
    flowCollectionPadding: hasPaddedFlow(text),
  });
}

/** Whether most flow collections are written `{ a: b }` rather than `{a: b}`. */
function hasPaddedFlow(text: string): boolean {
  const count = (pattern: RegExp) => [...text.replaceAll(/\{\{|\}\}/g, '').matchAll(pattern)].length;
  return count(/[[{] +[^\s#]/g) > count(/[[{][^\s\]}]/g);
}

export function printJson(printed: string, text: string): string {
  const [document] = readDocuments({ file: '', text: printed }).documents;
  const value = parseDocument(printed).toJS();
  const indent = /^\s*[{[]\n(\s+)/.exec(text)?.[1]?.length ?? 2;
  return document === undefined ? text : `${stringifyJson(value, indent)}\n`;
}

/** Restores the source of lines that the conversion did not change: spaces before comments and in flow lists. */
export function keepLines(text: string, plain: string, printed: string): string {
  const before = plain.split('\n');
  const written = writtenLines(text.split('\n'), before);
  const lines: string[] = [];
  let at = 0;
  for (const { added, removed, value, count } of diffArrays(before, printed.split('\n'))) {
    if (added) lines.push(...value);
    else {
      if (!removed) lines.push(...value.map((line, index) => written.get(at + index) ?? line));
      at += count;
    }
  }
  const kept = lines.join('\n');
  return meansTheSame(kept, printed) ? kept : printed;
}

/** The source lines by number of the printed line. */
function writtenLines(written: readonly string[], printed: readonly string[]): ReadonlyMap<number, string> {
  const lines = new Map<number, string>();
  let [left, right] = [0, 0];
  const changes = diffArrays([...written], [...printed], { comparator: isSameLine });
  for (const { added, removed, count } of changes) {
    if (!added && !removed) {
      for (let index = 0; index < count; index++) lines.set(right + index, written[left + index] ?? '');
    }
    if (!added) left += count;
    if (!removed) right += count;
  }
  return lines;
}

function isSameLine(left: string, right: string): boolean {
  const indent = (line: string) => /^ */.exec(line)?.[0].length ?? 0;
  const bare = (line: string) => line.replace(/\s+/g, '');
  return bare(left) === bare(right) && (bare(left) === '' || indent(left) === indent(right));
}

function meansTheSame(left: string, right: string): boolean {
  const values = [left, right].map((text) =>
    readDocuments({ file: '', text }).documents.map(({ value }) => value),
  );
  return equal(values[0] ?? [], values[1] ?? []);
}
