import { nameOf } from '../json/metadata.ts';
import { readObject, readText } from '../json/read-field.ts';
import type { JsonObject, Path } from '../json/value.ts';
import { celDocumentType } from '../policy/cel-documents.ts';
import type { CompiledPolicy } from '../policy/compiled.ts';
import { readDocuments, type SourceDocument, type SourceFile, splitDocuments } from '../policy/documents.ts';
import { writeYaml } from '../yaml/writer.ts';
import { type TranslatedException, translateException } from './exceptions.ts';
import { compileSource, convertSource } from './source-policy.ts';
import type { Conversion, ConversionTarget } from './types.ts';

export interface FileOptions {
  readonly to: ConversionTarget;
  readonly partial?: boolean | undefined;
  /** Exceptions of all files. */
  readonly translated: readonly TranslatedException[];
}

/** A policy of a file and its converted form, which is not compared yet. */
export interface PolicyConversion {
  readonly old: CompiledPolicy;
  readonly kind: string;
  readonly conversion: Conversion;
  /** The position of a field in the file. */
  place(path: Path): { readonly line: number; readonly column: number };
}

/** A document of the file. */
export interface FilePart {
  readonly source: string;
  /** Undefined for a document that stays as it is. */
  readonly policy?: PolicyConversion | undefined;
  /** It is converted when it is known which policies are written. */
  readonly exception?: TranslatedException | undefined;
}

/** Converts the policies of a file. Bindings that have no meaning afterwards are left out. */
export function convertFile({ file, text }: SourceFile, options: FileOptions): readonly FilePart[] {
  const all = readDocuments({ file, text }).documents.map(({ value }) => value);
  return splitDocuments(text).flatMap((part): readonly FilePart[] => {
    const { documents } = readDocuments({ file, text: part.text });
    if (documents.length === 0) return [{ source: part.text }];
    return documents.flatMap((document) => {
      // Items of a List become documents.
      const source = documents.length === 1 ? part.text : writeYaml(document.value);
      const policy = convertDocument(document, source, part.linesBefore, all, options);
      const exception = translateException(document.value, options.to);
      const isLeftOut = policy === undefined && isObsolete(document.value, all, options);
      return isLeftOut ? [] : [{ source, policy, exception }];
    });
  });
}

function convertDocument(
  document: SourceDocument,
  source: string,
  linesBefore: number,
  all: readonly JsonObject[],
  { to, partial, translated }: FileOptions,
): PolicyConversion | undefined {
  const conversion = convertSource(document.value, {
    to,
    partial,
    source,
    others: all,
    exceptions: translated,
  });
  const old = compileSource(document);
  if (conversion === undefined || old === undefined) return undefined;
  return {
    old,
    kind: readText(document.value, 'kind') ?? '',
    conversion,
    place: (path) => {
      const { line, column } = document.positionOf(path);
      return { line: line + linesBefore, column };
    },
  };
}

/** A MutatingPolicy has no binding. */
function isObsolete(value: JsonObject, all: readonly JsonObject[], { to }: FileOptions): boolean {
  if (to !== 'mutatingpolicy' || celDocumentType(value) !== 'admissionBinding') return false;
  const policy = readText(readObject(value, 'spec') ?? {}, 'policyName');
  return all.some((each) => celDocumentType(each) === 'admissionPolicy' && nameOf(each) === policy);
}

/** The path that a refusal names. @example parseClausePath('spec.rules[0].mutate') // ['spec', 'rules', 0, 'mutate'] */
export function parseClausePath(text: string): Path {
  return [...text.matchAll(/\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([^.[\]]+)/g)].map(([, index, quoted, name]) =>
    index === undefined ? (quoted ?? name ?? '') : Number(index),
  );
}

/** One file of several documents. */
export function joinDocuments(texts: readonly string[]): string {
  return texts
    .map((text, index) => {
      const ended = text.endsWith('\n') || text === '' ? text : `${text}\n`;
      return index === 0 || ended.startsWith('---') ? ended : `---\n${ended}`;
    })
    .join('');
}
