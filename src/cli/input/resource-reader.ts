import type { JsonObject } from '../../json/value.ts';
import { type ReadItem, readJsonValue, readYaml } from '../../offline/resource-documents.ts';
import { InputError, type Problem } from '../../problem.ts';
import { splitDocuments } from '../../yaml/document-stream.ts';
import { parseJsonValues } from '../../yaml/json-values.ts';
import type { Io } from '../io.ts';
import { expandInputs, type InputPath } from './input-paths.ts';
import { displayName, readText } from './text-input.ts';

/** Reads objects in order, one document at a time. An invalid document gives a problem and does not end the reading. */
export async function* readResources(
  inputs: readonly InputPath[],
  io: Pick<Io, 'stdin' | 'cwd'>,
  onRead?: (characters: number) => void,
): AsyncGenerator<ReadItem> {
  for (const input of inputs) yield* readInput(input, io, onRead);
}

/** All objects of files, folders and globs. Throws InputError with every error found. */
export async function readObjects(names: readonly string[], io: Io): Promise<JsonObject[]> {
  const objects: JsonObject[] = [];
  const errors: Problem[] = [];
  for await (const item of readResources(await expandInputs(names, io.cwd), io)) {
    if ('object' in item) objects.push(item.object);
    else if (item.problem.severity === 'error') errors.push(item.problem);
  }
  if (errors.length > 0) throw new InputError(errors);
  return objects;
}

async function* readInput(
  input: InputPath,
  io: Pick<Io, 'stdin' | 'cwd'>,
  onRead?: (characters: number) => void,
): AsyncGenerator<ReadItem> {
  const text = readText(input.file, io, input.contents?.());
  const chunks = onRead === undefined ? text : counted(text, onRead);
  const head: string[] = [];
  for await (const chunk of iterate(chunks)) {
    head.push(chunk);
    if (/\S/.test(chunk)) break;
  }
  const file = displayName(input.file);
  if (!/^\s*[[{]/.test(head.join(''))) {
    for await (const document of splitDocuments(prepend(head, chunks))) {
      yield* readYaml(document, file, input.discovered);
    }
    return;
  }
  const whole = (await collect(prepend(head, chunks))).join('');
  const values = parseJsonValues(whole);
  if (values === undefined) {
    for await (const document of splitDocuments(prepend([whole], []))) {
      yield* readYaml(document, file, input.discovered);
    }
    return;
  }
  for (const value of values) yield* readJsonValue(value, file, input.discovered);
}

async function* counted(
  chunks: AsyncIterable<string>,
  onRead: (characters: number) => void,
): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    onRead(chunk.length);
    yield chunk;
  }
}

async function collect(chunks: AsyncIterable<string>): Promise<string[]> {
  const parts: string[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return parts;
}

async function* prepend(head: readonly string[], rest: AsyncIterable<string> | Iterable<string>) {
  yield* head;
  yield* rest;
}

/** Iterates without closing the source when the loop ends early, so that reading can continue. */
function iterate<T>(source: AsyncGenerator<T>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => ({ next: () => source.next() }) };
}
