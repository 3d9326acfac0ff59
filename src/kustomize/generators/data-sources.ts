import { Buffer } from 'node:buffer';
import { basename } from 'node:path';
import type { KustomizationFolder } from '../kustomization/folder.ts';
import type { ConfigMapEntry } from '../kustomization/kustomization.ts';
import { KustomizeError } from '../kustomize-error.ts';

/** One entry of a generated ConfigMap or Secret. */
export interface DataEntry {
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** Reads the sources of a generator: env files, then literals, then files. */
export function readDataSources(
  entry: ConfigMapEntry,
  folder: KustomizationFolder,
  field: string,
): readonly DataEntry[] {
  const envs = [...(entry.env === undefined || entry.env === '' ? [] : [entry.env]), ...(entry.envs ?? [])];
  const entries = [
    ...envs.flatMap((path) => envEntries(path, folder, `${field}.envs`)),
    ...(entry.literals ?? []).map((literal, index) => literalEntry(literal, `${field}.literals[${index}]`)),
    ...(entry.files ?? []).map((source, index) => fileEntry(source, folder, `${field}.files[${index}]`)),
  ];
  const seen = new Set<string>();
  for (const { key } of entries) {
    if (seen.has(key)) throw failure(`duplicate key "${key}"`, field);
    seen.add(key);
  }
  return entries;
}

function failure(message: string, field: string): KustomizeError {
  return new KustomizeError('KYM_KUSTOMIZE_GENERATOR', message, { field });
}

function literalEntry(literal: string, field: string): DataEntry {
  const equals = literal.indexOf('=');
  if (equals < 1) throw failure(`the literal "${literal}" is not of the form key=value`, field);
  return { key: literal.slice(0, equals), bytes: Buffer.from(unquoted(literal.slice(equals + 1))) };
}

/** Removes one pair of quotes. */
function unquoted(text: string): string {
  const first = text[0];
  const isQuoted = text.length >= 2 && (first === '"' || first === "'") && text.endsWith(first);
  return isQuoted ? text.slice(1, -1) : text;
}

function fileEntry(source: string, folder: KustomizationFolder, field: string): DataEntry {
  const parts = source.split('=');
  if (parts.length > 2) throw failure(`"${source}" has more than one "="`, field);
  const [first = '', path] = parts;
  if (path === undefined) return { key: basename(first), bytes: folder.readBytes(first, field) };
  if (first === '') throw failure(`"${source}" has no key before "="`, field);
  if (path === '') throw failure(`"${source}" has no file after "="`, field);
  return { key: first, bytes: folder.readBytes(path, field) };
}

function envEntries(path: string, folder: KustomizationFolder, field: string): readonly DataEntry[] {
  const text = folder.readText(path, field);
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  return lines.flatMap((raw): DataEntry[] => {
    const line = raw.trimStart();
    if (line === '' || line.startsWith('#')) return [];
    const equals = line.indexOf('=');
    const key = equals < 0 ? line : line.slice(0, equals);
    if (key === '') return [];
    return [{ key, bytes: Buffer.from(equals < 0 ? '' : line.slice(equals + 1)) }];
  });
}
