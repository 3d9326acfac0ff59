import { removeMember, setMember } from '../../json/edit.ts';
import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import { notSimple, readSimpleYaml } from '../../yaml/simple-yaml.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { plainValue, readResourceYaml, ScalarText, yamlError } from '../yaml/read.ts';
import { isNonFinite, timestampOf, typedScalar } from '../yaml/types.ts';

/** How to read a null annotation: as a string, or, in a patch, as removal. */
type NullAnnotations = 'text' | 'null';
/** Whether kind and name are required. Plugin configs may omit them. */
type Identity = 'required' | 'loose';

/** Parses the Kubernetes objects in YAML or JSON documents. Lists are expanded. */
export function parseResources(
  text: string,
  file: string,
  nulls: NullAnnotations = 'text',
  identity: Identity = 'required',
): readonly JsonObject[] {
  const objects: JsonObject[] = [];
  for (const document of splitDocuments(text.replace(/^\ufeff/, ''))) {
    for (const value of readDocument(document, file, nulls)) collect(value, file, objects, identity);
  }
  return objects;
}

interface DocumentText {
  readonly text: string;
  readonly line: number;
}

/** Splits at lines that start with `---`. */
function* splitDocuments(text: string): Generator<DocumentText> {
  let start = 0;
  let line = 1;
  while (start <= text.length) {
    const end = nextMarker(text, start);
    const part = text.slice(start, end);
    const body = part.replace(/^---[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/, '');
    if (/\S/.test(body)) yield { text: body, line: body === part ? line : line + 1 };
    for (let at = part.indexOf('\n'); at !== -1; at = part.indexOf('\n', at + 1)) line++;
    start = end;
    if (end === text.length) return;
  }
}

function nextMarker(text: string, from: number): number {
  for (let at = text.indexOf('\n---', from); at !== -1; at = text.indexOf('\n---', at + 1)) {
    const after = text[at + 4];
    if (after === undefined || /\s/.test(after)) return at + 1;
  }
  return text.length;
}

function readDocument({ text, line }: DocumentText, file: string, nulls: NullAnnotations): readonly Json[] {
  const simple = readSimpleYaml(text, simpleScalar);
  if (simple !== undefined) {
    const normal = withTextAnnotationsInside(simple, nulls);
    if (normal !== undefined) return [normal];
  }
  try {
    return readResourceYaml(text).map((value) =>
      plainValue(withTextAnnotationsInside(value, nulls) ?? value),
    );
  } catch (error) {
    throw yamlError('KYM_KUSTOMIZE_RESOURCE', error, text, { file, firstLine: line });
  }
}

/** Reads scalars whose value keeps their text. The full parser reads all others. */
function simpleScalar(text: string): Json {
  const value = typedScalar(text);
  if (value === undefined) {
    if (isNonFinite(text) || timestampOf(text) !== undefined) throw notSimple;
    return text;
  }
  if (typeof value === 'bigint' || (value !== null && String(value) !== text)) throw notSimple;
  return value;
}

/** Converts annotations to strings, also in list items. */
function withTextAnnotationsInside(value: Json, nulls: NullAnnotations): Json | undefined {
  if (!isObject(value)) return value;
  const items = isList(value) ? member(value, 'items') : undefined;
  if (!isArray(items)) return withTextAnnotations(value, nulls);
  const normal = items.map((item) => withTextAnnotationsInside(item, nulls));
  if (normal.some((item) => item === undefined)) return undefined;
  return setMember(value, 'items', normal as Json[]);
}

function isList(object: JsonObject): boolean {
  const kind = member(object, 'kind');
  return typeof kind === 'string' && kind.endsWith('List');
}

/**
 * Annotations are always strings. An empty annotations map is removed. Undefined if the source text of an annotation is
 * unknown.
 */
function withTextAnnotations(object: JsonObject, nulls: NullAnnotations): JsonObject | undefined {
  const metadata = member(object, 'metadata');
  const annotations = isObject(metadata) ? member(metadata, 'annotations') : undefined;
  if (!isObject(metadata) || annotations === undefined) return object;
  const isNull = annotations === null || annotations instanceof ScalarText;
  if ((isNull && nulls === 'text') || isEmpty(annotations)) {
    return setMember(object, 'metadata', removeMember(metadata, 'annotations'));
  }
  if (!isObject(annotations)) return object;
  let texts = annotations;
  for (const [key, value] of Object.entries(annotations)) {
    if (isNullScalar(value)) {
      if (nulls === 'null') continue;
      if (value === null) return undefined;
    }
    if (typeof value === 'string' || (typeof value === 'object' && !(value instanceof ScalarText))) continue;
    texts = setMember(texts, key, value instanceof ScalarText ? value.text : String(value));
  }
  return texts === annotations
    ? object
    : setMember(object, 'metadata', setMember(metadata, 'annotations', texts));
}

function isNullScalar(value: Json): boolean {
  return value === null || (value instanceof ScalarText && value.value === null);
}

function isEmpty(value: Json): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

function collect(value: Json, file: string, objects: JsonObject[], identity: Identity): void {
  if (!isObject(value)) {
    throw new KustomizeError(
      'KYM_KUSTOMIZE_RESOURCE',
      'a document is not a map and therefore not a Kubernetes object',
      {
        file,
      },
    );
  }
  if (Object.keys(value).length === 0) return;
  const items = isList(value) ? member(value, 'items') : undefined;
  if (items !== undefined) {
    for (const item of isArray(items) ? items : []) collect(item, file, objects, identity);
    return;
  }
  if (identity === 'required') checkIdentity(value, file);
  objects.push(value);
}

function checkIdentity(object: JsonObject, file: string): void {
  if (!isText(member(object, 'kind'))) {
    throw new KustomizeError('KYM_KUSTOMIZE_RESOURCE', 'an object has no kind', { file, field: 'kind' });
  }
  const metadata = member(object, 'metadata');
  if (!isObject(metadata) || !isText(member(metadata, 'name'))) {
    throw new KustomizeError(
      'KYM_KUSTOMIZE_RESOURCE',
      `an object of kind ${String(member(object, 'kind'))} has no metadata.name`,
      { file, field: 'metadata.name' },
    );
  }
}

function isText(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== '' && typeof value !== 'object';
}
