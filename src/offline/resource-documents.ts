import { loadAll, YAMLException } from 'js-yaml';
import { metadataOf } from '../json/metadata.ts';
import { formatPointer } from '../json/pointer.ts';
import { isArray, isNumber, isObject, type Json, type JsonObject, member, type Path } from '../json/value.ts';
import { readDocuments } from '../policy/documents.ts';
import type { Problem } from '../problem.ts';
import { notAString } from '../yaml/advice.ts';
import type { DocumentText } from '../yaml/document-stream.ts';
import { kubernetesResourceSchema } from '../yaml/kubernetes-schema.ts';
import { readSimpleYaml } from '../yaml/simple-yaml.ts';
import {
  checkLimits,
  maximumAliases,
  maximumDepth,
  maximumObjectCharacters,
  tooDeep,
  tooLarge,
} from './object-limits.ts';

/** One Kubernetes object of the input. */
export interface Resource {
  readonly object: JsonObject;
  readonly file: string;
  /** The first line of its document, 1-based. */
  readonly line: number;
  /** Found in a folder, not named by the user. */
  readonly discovered: boolean;
  /** The source of the document, when it contains this object and nothing else. */
  readonly text?: string | undefined;
}

export type ReadItem = Resource | { readonly problem: Problem };

/** Reads one YAML document. A List gives several objects. */
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
  for (const [index, object] of objects.entries()) {
    const item = checkedObject(object, { file, line }, discovered, measured);
    if ('object' in item) for (const problem of typeProblems(item, index, document)) yield { problem };
    yield isWhole && 'object' in item ? { ...item, text } : item;
  }
}

/** Reads the objects of a JSON value. */
export function* readJsonValue(
  { value, line }: { readonly value: Json; readonly line: number },
  file: string,
  discovered: boolean,
): Generator<ReadItem> {
  for (const object of objectsIn(value)) yield checkedObject(object, { file, line }, discovered, true);
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
    return { problem: yamlProblem(error, file, line, text) };
  }
}

function yamlProblem(error: unknown, file: string, line: number, text: string): Problem {
  if (!(error instanceof YAMLException)) {
    const message = error instanceof Error ? error.message : String(error);
    return problemAt({ code: 'KYM_YAML_SYNTAX', message }, { file, line });
  }
  const { reason, mark } = error;
  const location = { file, line: line + (mark?.line ?? 0), column: (mark?.column ?? 0) + 1 };
  if (reason.includes('maxDepth')) return problemAt(tooDeep, location);
  if (reason.includes('maxAliases') || reason.includes('maxTotalMergeKeys')) {
    return problemAt(
      { code: 'KYM_YAML_ALIASES', message: `the document has more than ${maximumAliases} aliases` },
      location,
    );
  }
  // The reader of policies knows the exact position of every error, and common mistakes.
  const exact = readDocuments({ file, text }).problems.find(({ code }) => code === 'KYM_YAML_SYNTAX');
  return exact === undefined
    ? problemAt({ code: 'KYM_YAML_SYNTAX', message: reason }, location)
    : { ...exact, line: line + (exact.line ?? 1) - 1 };
}

/** The objects in a document: the items of `List`, `PodList` … and of a plain list, otherwise the document itself. */
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
    // The items of a typed list (PodList) may omit apiVersion and kind.
    if (isObject(item) && itemKind !== '' && member(item, 'kind') === undefined) {
      yield { apiVersion: member(value, 'apiVersion') ?? 'v1', kind: itemKind, ...item };
    } else yield* objectsIn(item);
  }
}

function checkedObject(
  value: Json,
  location: { file: string; line: number },
  discovered: boolean,
  measured: boolean,
): ReadItem {
  const breach = measured ? checkLimits(value) : undefined;
  if (breach !== undefined) return { problem: problemAt(breach, location) };
  if (isObject(value) && isText(member(value, 'apiVersion')) && isText(member(value, 'kind'))) {
    return { object: value, ...location, discovered };
  }
  const message = isObject(value)
    ? `the document has no ${isText(member(value, 'kind')) ? 'apiVersion' : 'kind'}: it is not a Kubernetes object`
    : 'the document is not a map: it is not a Kubernetes object';
  const problem = problemAt({ code: 'KYM_NOT_AN_OBJECT', message }, location);
  return { problem: discovered ? { ...problem, severity: 'warning' } : problem };
}

/** Names, labels and annotations that YAML reads as booleans or numbers. The API server refuses such an object. */
function* typeProblems(resource: Resource, index: number, { text, line }: DocumentText): Generator<Problem> {
  const metadata = metadataOf(resource.object);
  const wrong = [
    ...entriesOf(metadata, ['metadata']).filter(([[, key]]) => key === 'name' || key === 'namespace'),
    ...entriesOf(metadata['labels'], ['metadata', 'labels']),
    ...entriesOf(metadata['annotations'], ['metadata', 'annotations']),
  ].flatMap(([path, value]) => (isNumber(value) || typeof value === 'boolean' ? [{ path, value }] : []));
  if (wrong.length === 0) return;
  // Only the slower reader knows positions and sources.
  const source = readDocuments({ file: resource.file, text }).documents[index];
  for (const { path, value } of wrong) {
    const position = source?.positionOf(path);
    yield {
      ...problemAt(
        { code: 'KYM_FIELD_TYPE', message: notAString(source?.writtenAt(path) ?? String(value), value) },
        { file: resource.file, line: line + (position?.line ?? 1) - 1, column: position?.column },
      ),
      pointer: formatPointer(path),
    };
  }
}

function entriesOf(value: Json | undefined, path: Path): (readonly [Path, Json])[] {
  return isObject(value) ? Object.entries(value).map(([key, inner]) => [[...path, key], inner] as const) : [];
}

function isText(value: Json | undefined): boolean {
  return typeof value === 'string' && value !== '';
}

/** A document with its own end marker or directives cannot be copied into another stream. */
function isPrintable(text: string): boolean {
  return !/^(?:\.\.\.(?:\s|$)|%|---)/m.test(text);
}

function problemAt(
  { code, message }: Pick<Problem, 'code' | 'message'>,
  location: { file: string; line: number; column?: number | undefined },
): Problem {
  return { code, severity: 'error', message, pointer: '', ...location };
}
