import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { JsonObject } from '../../json/value.ts';
import { editYaml, withLineEndingsOf } from '../../offline/output/yaml-edit.ts';
import type { ReadItem } from '../../offline/resource-documents.ts';
import { isSameObject } from '../../offline/test/judgement.ts';
import type { TestRow } from '../../offline/test/rows.ts';
import { writeYaml } from '../../yaml/writer.ts';
import { readResources } from '../input/resource-reader.ts';
import type { Io } from '../io.ts';
import { type NewText, writeFiles } from '../output/result-output.ts';

/** Updates the expected files: objects that differ or are missing. Everything else keeps its formatting. */
export async function updateExpected(
  rows: readonly TestRow[],
  io: Io,
): Promise<{ readonly file: string; readonly objects: number }[]> {
  const proposals = new Map<string, JsonObject[]>();
  for (const { proposal } of rows) {
    if (proposal === undefined) continue;
    const known = proposals.get(proposal.file) ?? [];
    // When two results expect different objects, the last one wins.
    const others = known.filter((object) => !isSameObject(object, proposal.object));
    proposals.set(proposal.file, [...others, proposal.object]);
  }
  const updated: NewText[] = [];
  for (const [file, objects] of proposals) updated.push(await updatedFile(file, objects, io));
  await writeFiles(updated, io);
  return [...proposals].map(([file, objects]) => ({ file, objects: objects.length }));
}

async function updatedFile(file: string, objects: readonly JsonObject[], io: Io): Promise<NewText> {
  const path = resolve(io.cwd, file);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  const items: ReadItem[] = [];
  if (text !== undefined) {
    for await (const item of readResources([{ file, discovered: false }], io)) items.push(item);
  }
  const missing = new Set(objects);
  const documents = items.flatMap((item) => {
    if (!('object' in item)) return [];
    const object = objects.find((candidate) => isSameObject(candidate, item.object));
    if (object !== undefined) missing.delete(object);
    if (item.text === undefined) return [writeYaml(object ?? item.object)];
    return [object === undefined ? item.text : editYaml(item.text, item.object, object)];
  });
  for (const object of missing) documents.push(writeYaml(object));
  const marker = text?.startsWith('---') === true ? '---\n' : '';
  return { file, text: withLineEndingsOf(text ?? '', marker + documents.map(withNewline).join('---\n')) };
}

function withNewline(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
