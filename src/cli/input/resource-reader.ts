import type { JsonObject } from '../../json/value.ts';
import type { ReadItem } from '../../offline/resource-documents.ts';
import { readResourceText } from '../../offline/resource-text.ts';
import { InputError, type Problem } from '../../problem.ts';
import type { Io } from '../io.ts';
import { expandInputs, type InputPath } from './input-paths.ts';
import { displayName, type InputIo, readText } from './text-input.ts';

/** Reads objects in order, one document at a time. An invalid document gives a problem and does not end the reading. */
export async function* readResources(
  inputs: readonly InputPath[],
  io: InputIo,
  onRead?: (characters: number) => void,
): AsyncGenerator<ReadItem> {
  for (const input of inputs) {
    let isEmpty = true;
    for await (const item of readInput(input, io, onRead)) {
      isEmpty = false;
      yield item;
    }
    if (isEmpty && !input.discovered) yield { problem: emptyProblem(displayName(input.file)) };
  }
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

function readInput(
  input: InputPath,
  io: InputIo,
  onRead?: (characters: number) => void,
): AsyncGenerator<ReadItem> {
  const text = readText(input.file, io, input.contents?.());
  const chunks = onRead === undefined ? text : counted(text, onRead);
  return readResourceText(chunks, displayName(input.file), input.discovered);
}

function emptyProblem(file: string): Problem {
  const message = 'the input contains no object';
  return { code: 'KYM_INPUT_NOT_FOUND', severity: 'warning', message, pointer: '', file };
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
