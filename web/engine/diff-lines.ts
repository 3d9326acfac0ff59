import { diffArrays } from 'diff';
import { blame } from '../../src/analysis/blame/blame.ts';
import { blameLines } from '../../src/analysis/blame/lines.ts';
import type { Evaluated } from '../../src/offline/evaluator.ts';
import { withoutDefaultNamespace } from '../../src/offline/object-identity.ts';
import type { Resource } from '../../src/offline/resource-documents.ts';
import { writeYaml } from '../../src/yaml/writer.ts';
import type { DiffLine } from './evaluation.ts';
import { writerName } from './explain.ts';

/** The lines of the object before and after, each changed line with its writers. */
export function diffLines({ object }: Resource, evaluated: Evaluated): DiffLine[] {
  const { before, after, outcomes, failedPolicies } = evaluated;
  if (after === before) return plainLines(writeYaml(object), writeYaml(object));
  const found = blame(before, { object: after, outcomes, failedPolicies });
  const result = withoutDefaultNamespace(after, object);
  return blameLines(found, writeYaml(object), writeYaml(result)).map((line) => ({
    kind: line.kind,
    text: line.text,
    before: line.before,
    after: line.after,
    writers: line.writers.map(writerName),
  }));
}

/** The lines of both texts as in a diff, without the names of rules. */
export function plainLines(before: string, after: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let [left, right] = [0, 0];
  for (const { added, removed, value } of diffArrays(linesOf(before), linesOf(after))) {
    for (const text of value) {
      if (removed) lines.push({ kind: 'removed', text, before: ++left, writers: [] });
      else if (added) lines.push({ kind: 'added', text, after: ++right, writers: [] });
      else lines.push({ kind: 'same', text, before: ++left, after: ++right, writers: [] });
    }
  }
  return lines;
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
