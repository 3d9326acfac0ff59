import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { isArray, isObject, type Json, type JsonObject, member } from '../../json/value.ts';
import { KustomizeError } from '../kustomize-error.ts';
import { currentId } from '../resource/resource.ts';
import type { ResourceSet } from '../resource/resource-set.ts';
import { withName } from '../transformers/name-transformer.ts';

/** Appends content hashes to the names of generated resources. */
export function addNameHashes(set: ResourceSet): void {
  for (const resource of set.list()) {
    if (!resource.needsHash) continue;
    const { name } = currentId(resource);
    set.rememberId(resource);
    set.update(resource, withName(resource.object, `${name}-${nameHash(resource.object)}`));
  }
}

/** A ten-character hash of the data of a ConfigMap or Secret. */
export function nameHash(object: JsonObject): string {
  const digest = createHash('sha256')
    .update(goJson(hashedPart(object)))
    .digest('hex');
  return digest.slice(0, 10).replace(/[013ae]/g, (digit) => replacements[digit] ?? digit);
}

/** Replaces characters that could form words or be mistaken for letters. */
const replacements: Readonly<Record<string, string>> = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' };

function hashedPart(object: JsonObject): JsonObject {
  const kind = member(object, 'kind');
  const base = { kind: kind ?? null, name: '', data: content(object, 'data') };
  if (kind === 'ConfigMap') return withMap(base, object, 'binaryData');
  if (kind === 'Secret') return withMap({ ...base, type: content(object, 'type') }, object, 'stringData');
  throw new KustomizeError(
    'KYM_KUSTOMIZE_GENERATOR',
    `${String(kind)} names cannot have a hash suffix; only ConfigMap and Secret can`,
  );
}

function content(object: JsonObject, field: string): Json {
  return member(object, field) ?? '';
}

function withMap(base: JsonObject, object: JsonObject, field: string): JsonObject {
  const value = member(object, field);
  return isObject(value) ? { ...base, [field]: value } : base;
}

/** JSON as Go prints it: sorted keys, with `<`, `>`, `&`, U+2028 and U+2029 escaped. */
export function goJson(value: Json): string {
  if (isArray(value)) return `[${value.map(goJson).join(',')}]`;
  if (isObject(value)) {
    const members = Object.keys(value)
      .sort(byBytes)
      .map((key) => `${goString(key)}:${goJson(value[key] as Json)}`);
    return `{${members.join(',')}}`;
  }
  return typeof value === 'string' ? goString(value) : String(value);
}

function goString(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function byBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
