import { loadAll, YAMLException } from 'js-yaml';
import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import type { Problem } from '../../problem.ts';
import { type DocumentText, splitDocuments } from '../../yaml/document-stream.ts';
import { parseJsonValues } from '../../yaml/json-values.ts';
import { kubernetesResourceSchema } from '../../yaml/kubernetes-schema.ts';
import { readSimpleYaml } from '../../yaml/simple-yaml.ts';
import type { Io } from '../io.ts';
import type { InputPath } from './input-paths.ts';
import {
  checkLimits,
  maximumAliases,
  maximumDepth,
  maximumObjectCharacters,
  tooLarge,
} from './object-limits.ts';
import { displayName, readText } from './text-input.ts';

/** One Kubernetes object of the input. */
export interface Resource {
  readonly object: JsonObject;
  readonly file: string;
  /** Where its document begins, 1-based. */
  readonly line: number;
  /** Found in a folder, not named by the user. */
  readonly discovered: boolean;
  /** The text it was read from, when that text holds this object and nothing else. */
  readonly text?: string | undefined;
}

export type ReadItem = Resource | { readonly problem: Problem };

/** Reads objects in order, one document at a time. A broken document is an item of its own and ends nothing. */
export async function* readResources(
  inputs: readonly InputPath[],
  io: Pick<Io, 'stdin' | 'cwd'>,
  onRead?: (characters: number) => void,
): AsyncGenerator<ReadItem> {
  for (const input of inputs) yield* readInput(input, io, onRead);
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
  for (const { value, line } of values) {
    for (const object of objectsIn(value))
      yield checkedObject(object, { file, line }, input.discovered, true);
  }
}

/** Reads one YAML document; several objects when it is a List. */
export function* readYaml(document: DocumentText, file: string, discovered: boolean): Generator<ReadItem> {
  const { text, line } = document;
  if (text.length > maximumObjectCharacters && !/^kind:\s*["']?\w*List\b/m.test(text) && !/^-/m.test(text)) {
    yield { problem: problemAt(tooLarge, { file, line }) };
    return;
  }
  const parsed = parseYaml(document, file);
  if ('problem' in parsed) {
    yield parsed;
    return;
  }
  const { values } = parsed;
  const objects = values.flatMap((value) => [...objectsIn(value)]);
  const mayAlias = text.includes('*') && text.includes('&');
  const measured = mayAlias || text.length > maximumObjectCharacters;
  const isWhole =
    values.length === 1 && objects.length === 1 && objects[0] === values[0] && isPrintable(text);
  for (const object of objects) {
    const item = checkedObject(object, { file, line }, discovered, measured);
    yield isWhole && 'object' in item ? { ...item, text } : item;
  }
}

function parseYaml({ text, line }: DocumentText, file: string): { values: Json[] } | { problem: Problem } {
  const simple = readSimpleYaml(text);
  if (simple !== undefined) return { values: [simple] };
  try {
    const values = loadAll(text, {
      schema: kubernetesResourceSchema,
      maxDepth: maximumDepth,
      maxAliases: maximumAliases,
    }) as Json[];
    return { values: values.filter((value) => value !== null) };
  } catch (error) {
    return { problem: yamlProblem(error, file, line) };
  }
}

function yamlProblem(error: unknown, file: string, line: number): Problem {
  if (!(error instanceof YAMLException)) {
    const message = error instanceof Error ? error.message : String(error);
    return problemAt({ code: 'KYM_YAML_SYNTAX', message }, { file, line });
  }
  const { reason, mark } = error;
  const place = { file, line: line + (mark?.line ?? 0), column: (mark?.column ?? 0) + 1 };
  if (reason.includes('maxDepth')) {
    return problemAt(
      { code: 'KYM_INPUT_TOO_DEEP', message: `the document nests deeper than ${maximumDepth} levels` },
      place,
    );
  }
  if (reason.includes('maxAliases') || reason.includes('maxTotalMergeKeys')) {
    return problemAt(
      { code: 'KYM_YAML_ALIASES', message: `the document has more than ${maximumAliases} aliases` },
      place,
    );
  }
  return problemAt({ code: 'KYM_YAML_SYNTAX', message: reason }, place);
}

/** The objects in a document: items of `List`, `PodList` … and of a plain list, else the document itself. */
function* objectsIn(value: Json): Generator<Json> {
  if (isArray(value)) {
    for (const item of value) yield* objectsIn(item);
    return;
  }
  const kind = isObject(value) ? member(value, 'kind') : undefined;
  const items = isObject(value) ? member(value, 'items') : undefined;
  if (!isObject(value) || typeof kind !== 'string' || !kind.endsWith('List') || !isArray(items)) {
    yield value;
    return;
  }
  const itemKind = kind.slice(0, -'List'.length);
  for (const item of items) {
    // The items of a typed list (PodList) may leave out what the list says.
    if (isObject(item) && itemKind !== '' && member(item, 'kind') === undefined) {
      yield { apiVersion: member(value, 'apiVersion') ?? 'v1', kind: itemKind, ...item };
    } else yield* objectsIn(item);
  }
}

function checkedObject(
  value: Json,
  place: { file: string; line: number },
  discovered: boolean,
  measured: boolean,
): ReadItem {
  const breach = measured ? checkLimits(value) : undefined;
  if (breach !== undefined) return { problem: problemAt(breach, place) };
  if (isObject(value) && isText(member(value, 'apiVersion')) && isText(member(value, 'kind'))) {
    return { object: value, ...place, discovered };
  }
  const message = isObject(value)
    ? `the document has no ${isText(member(value, 'kind')) ? 'apiVersion' : 'kind'}: it is not a Kubernetes object`
    : 'the document is not a map: it is not a Kubernetes object';
  const problem = problemAt({ code: 'KYM_NOT_AN_OBJECT', message }, place);
  return { problem: discovered ? { ...problem, severity: 'warning' } : problem };
}

function isText(value: Json | undefined): boolean {
  return typeof value === 'string' && value !== '';
}

/** A document with its own end marker or directives does not stand alone in another stream. */
function isPrintable(text: string): boolean {
  return !/^(?:\.\.\.(?:\s|$)|%|---)/m.test(text);
}

function problemAt(
  { code, message }: Pick<Problem, 'code' | 'message'>,
  place: { file: string; line: number; column?: number | undefined },
): Problem {
  return { code, severity: 'error', message, pointer: '', ...place };
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

/** Iterates without closing the source when the loop is left, so that reading can go on. */
function iterate<T>(source: AsyncGenerator<T>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => ({ next: () => source.next() }) };
}
