import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import type { Json, JsonObject } from '../../src/json/value.ts';

/** A case of the corpus, as far as it is used here. */
export interface CorpusCase {
  readonly id: string;
  readonly folder: string;
  readonly check: 'exact' | 'partial';
  readonly policies: readonly string[];
  readonly resources: readonly string[];
  readonly existing?: readonly string[];
  readonly exceptions?: readonly string[];
  readonly values?: JsonObject;
  readonly userinfo?: JsonObject;
  readonly needs?: readonly string[];
  readonly results: readonly CorpusResult[];
  readonly oraclePatched?: { readonly file: string; readonly objects: readonly OracleObject[] };
}

export interface CorpusResult {
  /** A name, or `namespace/name`; a list when several policies were active. */
  readonly policy: string | readonly string[];
  readonly rule: string | null;
  readonly policyFiles?: readonly string[];
  readonly resource: {
    readonly name: string;
    readonly namespace: string;
    readonly kind: string;
    readonly apiVersion: string;
    readonly file: string;
    readonly doc: number;
  };
  readonly result: 'pass' | 'skip' | 'fail' | 'error';
  readonly patchedResource: string | null;
  readonly patchedDoc?: number;
  readonly negate?: boolean;
  readonly target?: string;
  readonly operation?: string;
  readonly oracle?: { readonly outcome?: string };
}

interface OracleObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly doc: number;
}

/** Undefined when the corpus is not on this machine. */
export function findCorpus(root: string): string | undefined {
  const folder = process.env['KYMERA_CONFORMANCE'] ?? join(root, '..', 'shared', 'conformance');
  return existsSync(join(folder, 'kyverno')) ? join(folder, 'kyverno') : undefined;
}

export function readCorpus(corpus: string): readonly CorpusCase[] {
  return readdirSync(corpus)
    .sort()
    .filter((id) => existsSync(join(corpus, id, 'case.yaml')))
    .map((id) => ({
      ...(parse(readFileSync(join(corpus, id, 'case.yaml'), 'utf8')) as CorpusCase),
      folder: join(corpus, id),
    }));
}

/** Results that the real program verified offline, and that admission produces. */
export function offlineResults(corpusCase: CorpusCase): readonly CorpusResult[] {
  return corpusCase.results.filter(
    ({ oracle, target }) => oracle?.outcome?.startsWith('verified') === true && target === undefined,
  );
}

export function readText(corpusCase: CorpusCase, file: string): { file: string; text: string } {
  return { file, text: readFileSync(join(corpusCase.folder, file), 'utf8') };
}

/** The documents of a file by their position; empty documents keep theirs. */
export function readObjects(corpusCase: CorpusCase, file: string): readonly JsonObject[] {
  const { text } = readText(corpusCase, file);
  const documents = parseAllDocuments(text);
  return Array.isArray(documents) ? documents.map((document) => (document.toJS() ?? {}) as JsonObject) : [];
}

/** The whole object that the real program printed. */
export function oracleObject(corpusCase: CorpusCase, resource: CorpusResult['resource']): Json | undefined {
  const { oraclePatched } = corpusCase;
  const entry = oraclePatched?.objects.find(
    (object) =>
      object.kind === resource.kind &&
      object.name === resource.name &&
      (object.namespace || 'default') === (resource.namespace || 'default'),
  );
  return oraclePatched && entry && readObjects(corpusCase, oraclePatched.file)[entry.doc];
}
