import { splitDocuments } from '../yaml/document-stream.ts';
import { parseJsonValues } from '../yaml/json-values.ts';
import { type ReadItem, readJsonValue, readYaml } from './resource-documents.ts';

/** Reads the objects of a file, one YAML document at a time. JSON is read as a whole. */
export async function* readResourceText(
  chunks: AsyncGenerator<string>,
  file: string,
  discovered: boolean,
): AsyncGenerator<ReadItem> {
  const head: string[] = [];
  for await (const chunk of iterate(chunks)) {
    head.push(chunk);
    if (/\S/.test(chunk)) break;
  }
  if (!/^\s*[[{]/.test(head.join(''))) {
    for await (const document of splitDocuments(prepend(head, chunks))) {
      yield* readYaml(document, file, discovered);
    }
    return;
  }
  const whole = (await collect(prepend(head, chunks))).join('');
  const values = parseJsonValues(whole);
  if (values === undefined) {
    for await (const document of splitDocuments(prepend([whole], []))) {
      yield* readYaml(document, file, discovered);
    }
    return;
  }
  for (const value of values) yield* readJsonValue(value, file, discovered);
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
