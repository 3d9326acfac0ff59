import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { refKey, refTitle } from '../../background/object-identity.ts';
import { stringifyJson } from '../../json/json-text.ts';
import type { JsonObject } from '../../json/value.ts';
import { withoutDefaultNamespace } from '../../offline/object-identity.ts';
import type { PlannedChange } from '../../offline/output/planned-changes.ts';
import { editYaml } from '../../offline/output/yaml-edit.ts';
import type { Resource } from '../../offline/resource-documents.ts';
import { inputError } from '../../problem.ts';
import { writeYaml } from '../../yaml/writer.ts';
import type { Io } from '../io.ts';
import { writeFiles } from '../output/result-output.ts';

/** Writes changes back to the files of the objects: all files or none. */
export async function writeBack(
  changes: readonly PlannedChange[],
  resources: ReadonlyMap<string, Resource>,
  io: Io,
): Promise<readonly string[]> {
  const texts = new Map<string, string>();
  for (const change of changes) {
    const resource = resources.get(refKey(change.ref));
    if (resource === undefined) {
      if (change.after !== undefined) addFile(change, change.after, resources, texts);
      continue;
    }
    const text = texts.get(resource.file) ?? (await readFile(resolve(io.cwd, resource.file), 'utf8'));
    texts.set(resource.file, withChange(text, resource, change.after));
  }
  await writeFiles(
    [...texts].map(([file, text]) => ({ file, text })),
    io,
  );
  return [...texts.keys()];
}

/** A generated object gets a file beside its trigger. */
function addFile(
  { ref, steps }: PlannedChange,
  after: JsonObject,
  resources: ReadonlyMap<string, Resource>,
  texts: Map<string, string>,
): void {
  const [step] = steps;
  const trigger = step === undefined ? undefined : resources.get(refKey(withoutUid(step.trigger)));
  const folder = dirname(trigger?.file ?? [...resources.values()][0]?.file ?? '.');
  const name = [ref.kind, ref.namespace, ref.name]
    .filter((part) => part !== '')
    .join('-')
    .toLowerCase();
  texts.set(join(folder, `${name.replaceAll(/[^a-z0-9.-]/g, '_')}.yaml`), writeYaml(after));
}

function withoutUid({ apiVersion, kind, namespace, name }: PlannedChange['ref']): PlannedChange['ref'] {
  return { apiVersion, kind, namespace, name };
}

function withChange(text: string, resource: Resource, after: JsonObject | undefined): string {
  const { object, file } = resource;
  if (file === '-' || file === '<stdin>') throw cannotWrite(resource, 'it was read from standard input');
  const result = after === undefined ? undefined : withoutDefaultNamespace(after, object);
  if (resource.text === undefined) return jsonText(text, resource, result);
  const at = text.indexOf(resource.text);
  if (at < 0) throw cannotWrite(resource, 'its file has changed in the meantime');
  const before = text.slice(0, at);
  const rest = text.slice(at + resource.text.length);
  if (result !== undefined) return `${before}${editYaml(resource.text, object, result)}${rest}`;
  return `${before.replace(/---[ \t]*(?:#[^\n]*)?\r?\n$/, '')}${rest}`;
}

/** The new text of a JSON file that contains only this object. */
function jsonText(text: string, resource: Resource, result: JsonObject | undefined): string {
  const isWhole =
    text.trimStart().startsWith('{') && !/"items"\s*:/.test(text) && text.trimEnd().endsWith('}');
  if (!isWhole) throw cannotWrite(resource, 'it is one of several objects in a list');
  return result === undefined ? '' : `${stringifyJson(result, 2)}\n`;
}

function cannotWrite({ object, file, line }: Resource, why: string) {
  const title = refTitle({
    apiVersion: '',
    kind: String(object['kind'] ?? ''),
    namespace: '',
    name: String((object['metadata'] as JsonObject | undefined)?.['name'] ?? ''),
  });
  return inputError('KYM_FILE_NOT_WRITTEN', `${title} cannot be written back: ${why}`, {
    file,
    line,
    hint: 'use --output to write the results elsewhere',
  });
}
